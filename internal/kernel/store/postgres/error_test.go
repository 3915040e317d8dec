package postgres_test

import (
	"errors"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
)

func TestStates(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]error{
		"23505": store.ErrConflict, "23503": store.ErrConflict, "23514": ledgersql.ErrInvalid, "23502": ledgersql.ErrInvalid,
		"53100": store.ErrFull, "53300": ledgersql.ErrBusy, "40001": ledgersql.ErrBusy, "40P01": ledgersql.ErrBusy, "57014": ledgersql.ErrBusy,
		"08006": ledgersql.ErrUnreachable, "57P01": ledgersql.ErrUnreachable, "57P03": ledgersql.ErrUnreachable,
		"28P01": ledgersql.ErrAccess, "42501": ledgersql.ErrAccess, "25006": ledgersql.ErrAccess, "3D000": ledgersql.ErrAccess,
		"22021": ledgersql.ErrInvalid, "54000": ledgersql.ErrInvalid, "42P01": ledgersql.ErrCorrupt, "XX001": ledgersql.ErrCorrupt,
		"58030": ledgersql.ErrIO, "XX000": ledgersql.ErrIO, "": ledgersql.ErrIO,
	} {
		if got := postgres.Kind(state); !errors.Is(got, want) {
			t.Errorf("SQLSTATE %q is %v, want %v", state, got, want)
		}
	}
}
