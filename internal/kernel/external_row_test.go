package kernel_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// TestForeignRowOfADeepTurn: a row says how deep the turn is and has the trace id that the claim told, whatever trace the
// worker's own card names: a worker refuses a row that says otherwise (UTP, "Headers" and "Depth").
func TestForeignRowOfADeepTurn(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		s := w.stranger("peer")
		a, err := w.hub.Enqueue(w.ctx, api.EnqueueRequest{Agent: "peer", Args: jsontext.Value(`{}`), Request: "count", Depth: 3})
		if err != nil {
			t.Fatal(err)
		}
		w.follow(a.Session)
		var c api.ClaimAnswer
		s.must(api.OpClaim, api.ClaimRequest{Agent: "peer", Worker: "seat"}, &c)
		wanted := s.wanted(c.Turn, "tc_theirs", poller)
		s.keeps(utp.NewToolCall(wanted))
		if _, err := s.sends(s.commanded(wanted, c.Epoch)); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Second)
		row, result, _ := s.row(c.Turn, "tc_theirs")
		_, told, err := utp.ParseTraceparent(c.Traceparent)
		if _, in, _ := utp.ParseTraceparent(row.Context.Traceparent); err != nil || told != in {
			t.Errorf("the claim tells the trace %q, %v; the row is of %q", c.Traceparent, err, row.Context.Traceparent)
		}
		if row.Context.RecursionDepth != 3 || row.MessageType != utp.InboxToolResult || result.Status != utp.StatusSuccess {
			t.Errorf("the row %+v of %+v", row, result)
		}
		s.delivers(c)
		w.succeeded(c.Turn)
	})
}

// TestForeignRowOfATimeout: of a call that its service never answered, the deadline reports in the service's place, and
// the row and the error say so (UTP, "Reports" and "Results").
func TestForeignRowOfATimeout(t *testing.T) {
	inWorld(t, nil, func(t *testing.T, w *world) {
		s, peer := w.stranger("words"), w.stranger("peer")
		s.serves(utp.Read, `{"suspend_timeout_seconds":60}`)
		c := peer.holds()
		wanted := peer.wanted(c.Turn, "tc_theirs", wordCount)
		wanted.TargetSubject = "cg.v1r4.home.public.cmd.tool.words.call"
		peer.keeps(utp.NewToolCall(wanted))
		if _, err := peer.sends(peer.commanded(wanted, c.Epoch)); err != nil {
			t.Fatal(err)
		}
		w.pass(65 * time.Second)
		row, result, _ := peer.row(c.Turn, "tc_theirs")
		if row.MessageType != utp.InboxTimeout || row.Report.Status != utp.StatusTimeout {
			t.Errorf("the row %+v", row)
		}
		if result.Error == nil || result.Error.Code != utp.CodeToolTimeout || result.Error.Source != utp.SourceWatchdog {
			t.Errorf("the error %+v", result.Error)
		}
		peer.delivers(c)
		w.succeeded(c.Turn)
	})
}
