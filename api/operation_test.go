package api_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/earshot-dev/earshot/api"
)

// The table says who may ask for what. The bus, the kernel and the hub go by it.
func Example() {
	o, _ := api.OperationNamed(api.OpErase)
	fmt.Println(o.Name, o.Peers, o.Right == api.Operate, o.Request)
	fmt.Println(api.MayAsk(api.Hub, api.OpErase), api.MayAsk(api.Agent, api.OpErase))
	// Output:
	// erase [hub] true api.EraseRequest
	// true false
}

// TestOperations: each operation is there once, has its types, and is for somebody; what operators look at may be
// asked for again.
func TestOperations(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, o := range api.Operations() {
		switch {
		case seen[o.Name]:
			t.Errorf("%s is there twice", o.Name)
		case o.Request == nil || o.Answer == nil:
			t.Errorf("%s has no types", o.Name)
		case len(o.Peers) == 0 && o.Name != api.OpCommand: // which comes under its own subject
			t.Errorf("%s is for nobody", o.Name)
		case o.Right != api.Nobody && !reflect.DeepEqual(o.Peers, []api.Peer{api.Hub}):
			t.Errorf("%s is for operators, and for %v", o.Name, o.Peers)
		case o.Right == api.Inspect && !o.Repeatable:
			t.Errorf("%s only looks, and may not be repeated", o.Name)
		}
		seen[o.Name] = true
		if found, is := api.OperationNamed(o.Name); !is || found.Name != o.Name {
			t.Errorf("%s is not found by its name", o.Name)
		}
	}
	if _, is := api.OperationNamed("none"); is || api.MayAsk(api.Hub, "none") || api.MayAsk("root", api.OpGet) || api.MayAsk(api.Operator, api.OpGet) {
		t.Error("there is an operation, or a right to one, that is not in the table")
	}
}
