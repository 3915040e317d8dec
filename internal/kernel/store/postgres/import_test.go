package postgres_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// TestImportedTwiceAtOnce: the same part of an export that reaches two kernels at the same time (a
// request whose answer was lost, and its repetition) comes in once.
func TestImportedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	w := &town{t: t}
	dsn := nowhere(t)
	w.open(dsn)
	w.open(dsn)
	hub := peer{w, kernel.Caller{Kind: kernel.HubCaller, Name: "hub"}}
	record := func(e api.Exported) jsontext.Value {
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for n := range 8 {
		id := fmt.Sprintf("turn_%032x", n)
		d := api.TurnDetail{Turn: id, Session: "sess_" + id[5:], Created: time.UnixMicro(1), End: &api.SessionEnd{Status: utp.StatusSuccess}}
		q := api.ImportRequest{Turn: id, Records: []jsontext.Value{record(api.Exported{Turn: &d})}}
		if err := rpc.Ask(t.Context(), hub, api.OpImport, q, &api.ImportAnswer{}); err != nil {
			t.Fatal(err)
		}
		q.Records = []jsontext.Value{record(api.Exported{Receipt: &api.ReceiptDetail{Question: 1, Decision: "accept", By: "ada", At: time.UnixMicro(1)}})}
		q.Receipts = 1
		var both sync.WaitGroup
		for range 4 {
			both.Go(func() {
				if err := rpc.Ask(t.Context(), hub, api.OpImport, q, &api.ImportAnswer{}); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		var got api.TurnDetail
		if err := rpc.Ask(t.Context(), hub, api.OpTurn, api.TurnRequest{Name: id}, &got); err != nil || len(got.Receipts) != 1 {
			t.Errorf("%s has %d receipts, %v; want the one", id, len(got.Receipts), err)
		}
	}
}
