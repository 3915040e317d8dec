package kernel

import (
	"testing"

	"github.com/earshot-dev/earshot/api"
)

// TestHandlers: every operation of the table is carried out, with the types that the table says, and nothing else is.
func TestHandlers(t *testing.T) {
	t.Parallel()
	for _, all := range []map[string]operation{handlers(), externalHandlers()} {
		for name, h := range all {
			if o, is := api.OperationNamed(name); !is || o.Request != h.request || o.Answer != h.answer {
				t.Errorf("%s takes %v and answers %v; the table says %v and %v", name, h.request, h.answer, o.Request, o.Answer)
			}
		}
	}
	for _, o := range api.Operations() {
		if _, is := handlers()[o.Name]; !is {
			t.Errorf("nobody carries out %s", o.Name)
		}
		for _, peer := range o.Peers {
			if _, may := handler(Caller{Kind: string(peer)}, o.Name); !may {
				t.Errorf("a %s may not ask for %s", peer, o.Name)
			}
		}
	}
	for op := range externalHandlers() {
		if !api.MayAsk(api.External, op) {
			t.Errorf("a third-party peer may not ask for %s, and has a handler of its own", op)
		}
	}
}
