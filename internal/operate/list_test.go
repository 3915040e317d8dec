package operate_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/operate"
)

// ledger answers with one row a page, of three.
func ledger(asked *[]string) operate.Ask {
	return func(_ context.Context, op string, request, answer any) error {
		*asked = append(*asked, op)
		switch q := request.(type) {
		case api.DeadRequest:
			*answer.(*api.DeadAnswer) = api.DeadAnswer{Dead: []api.DeadDetail{{ID: q.After + 1}}, More: q.After < 2}
		case api.AuditRequest:
			*answer.(*api.AuditAnswer) = api.AuditAnswer{Entries: []api.AuditEntry{{N: q.After + 1}}, More: q.After < 2}
		case api.EraseRequest:
			*answer.(*api.EraseAnswer) = api.EraseAnswer{Erased: len(q.Turns)}
		default:
			return errors.ErrUnsupported
		}
		return nil
	}
}

// TestEachPage: page after page, and no further than somebody wants.
func TestEachPage(t *testing.T) {
	t.Parallel()
	var asked []string
	var ids []int64
	err := operate.EachDead(t.Context(), ledger(&asked), func(one api.DeadDetail) error {
		ids = append(ids, one.ID)
		return nil
	})
	if err != nil || !slices.Equal(ids, []int64{1, 2, 3}) || len(asked) != 3 {
		t.Errorf("%v, asked %d times, %v", ids, len(asked), err)
	}
	asked = nil
	enough := errors.New("enough")
	err = operate.EachEntry(t.Context(), ledger(&asked), func(e api.AuditEntry) error {
		if e.N == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || len(asked) != 2 {
		t.Errorf("asked %d times, %v", len(asked), err)
	}
	if err := operate.EachTool(t.Context(), ledger(&asked), func(api.ToolDetail) error { return nil }); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a refusal: %v", err)
	}
}

// TestErase: many turns go in several requests, since one names 64 at most.
func TestErase(t *testing.T) {
	t.Parallel()
	var asked, turns []string
	for i := range 130 {
		turns = append(turns, "turn_"+strconv.Itoa(i))
	}
	all, err := operate.Erase(t.Context(), ledger(&asked), turns, "", func(int) {})
	if err != nil || all.Erased != 130 || len(asked) != 3 {
		t.Errorf("%+v in %d requests, %v", all, len(asked), err)
	}
}
