package kernel_test

import (
	"reflect"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// TestPortSize holds the port of the ledger to what its implementers were promised: a
// transaction of at most a dozen methods, and a store with three.
func TestPortSize(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		port reflect.Type
		most int
	}{
		{reflect.TypeFor[store.Ledger](), 3},
		{reflect.TypeFor[store.Tx](), 12},
	} {
		if n := tt.port.NumMethod(); n > tt.most {
			t.Errorf("%v has %d methods; want at most %d: read more by a filter, or write more by the batch", tt.port, n, tt.most)
		}
	}
}
