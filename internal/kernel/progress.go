package kernel

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// reportProgress publishes the progress of a call, for anyone who watches the tools. It is not part of the
// record, unlike the session's own events, so losing it costs nothing.
func (k *Kernel) reportProgress(ctx context.Context, st turn.State, c turn.Call, fraction float64) {
	subject, err := utp.ToolEvent(st.Project, st.Channel, c.Target, utp.SuffixProgress)
	if err != nil {
		return
	}
	payload, err := json.Marshal(utp.ToolProgress{Call: c.ID, Turn: st.Turn, Tool: c.Tool, Fraction: min(max(fraction, 0), 1)})
	if err != nil {
		return
	}
	header, err := utp.EncodeHeader(st.ContextOf(c, ""), utp.Stamp{At: k.o.Clock.Now()})
	if err != nil {
		return
	}
	if err := k.o.Bus.Publish(ctx, subject.String(), header, payload); err != nil {
		k.o.Logger.Debug("progress", "call", c.ID, "error", err)
	}
}
