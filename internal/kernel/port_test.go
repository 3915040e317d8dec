package kernel_test

import (
	"reflect"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// TestPortSize: the ledger has three methods, and each interface that a transaction consists of a handful, on one subject.
func TestPortSize(t *testing.T) {
	t.Parallel()
	parts := 0
	for _, tt := range []struct {
		port reflect.Type
		most int
	}{
		{reflect.TypeFor[store.Ledger](), 3},
		{reflect.TypeFor[store.TurnReader](), 7},
		{reflect.TypeFor[store.EventReader](), 7},
		{reflect.TypeFor[store.CardReader](), 7},
		{reflect.TypeFor[store.ToolReader](), 7},
		{reflect.TypeFor[store.AgentReader](), 7},
		{reflect.TypeFor[store.BoxReader](), 7},
		{reflect.TypeFor[store.OutboxReader](), 7},
		{reflect.TypeFor[store.CallReader](), 7},
		{reflect.TypeFor[store.PreferenceReader](), 7},
		{reflect.TypeFor[store.RequestKeyReader](), 7},
		{reflect.TypeFor[store.AuditReader](), 7},
		{reflect.TypeFor[store.PasskeyReader](), 7},
		{reflect.TypeFor[store.PermissionReader](), 7},
		{reflect.TypeFor[store.Writer](), 7},
	} {
		n := tt.port.NumMethod()
		if n > tt.most {
			t.Errorf("%v has %d methods; want at most %d, on one subject", tt.port, n, tt.most)
		}
		parts += n
	}
	if all := reflect.TypeFor[store.Tx]().NumMethod() + reflect.TypeFor[store.Ledger]().NumMethod(); parts != all {
		t.Errorf("the interfaces above have %d methods, and the ledger and its transaction %d: some are in none of them", parts, all)
	}
}
