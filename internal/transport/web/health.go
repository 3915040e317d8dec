package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/api"
)

// counts are the metrics of the process. They contain no content.
type counts struct {
	streams       atomic.Int64 // open now
	deliveries    atomic.Int64
	subscriptions atomic.Int64
	rejections    atomic.Int64
	replies       atomic.Int64
	turns         atomic.Int64
	logins        atomic.Int64
	failedLogins  atomic.Int64
}

// Counter is a metric that only grows during the life of the process. Its name ends in _total.
type Counter struct {
	Name, Help string
	Value      int64
}

func (*Server) healthy(http.ResponseWriter, *http.Request, visitor) (api.Health, error) {
	return api.Health{Status: "ok"}, nil
}

// readyTime is the timeout of the readiness check.
const readyTime = 2 * time.Second

// ready also answers unauthenticated clients: with one word, and nothing about sessions.
func (s *Server) ready(_ http.ResponseWriter, r *http.Request, _ visitor) (api.Health, error) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	if err := s.options.Ready(ctx); err != nil {
		s.log.WarnContext(r.Context(), "not ready", "error", err)
		return api.Health{}, &Refusal{Kind: api.KindUnavailable, Message: "the server does not take work now", Hint: "try again soon", After: 5 * time.Second, Cause: err}
	}
	return api.Health{Status: "ready"}, nil
}

// metrics writes the metrics in the Prometheus text format.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request, _ visitor) error {
	var b strings.Builder
	metric := func(name, kind, help string, value int64) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", name, help, name, kind, name, value)
	}
	for _, m := range []struct {
		name, kind, help string
		value            int64
	}{
		{"earshot_streams_open", "gauge", "Streams that are open now.", s.counts.streams.Load()},
		{"earshot_deliveries_total", "counter", "Events sent on streams.", s.counts.deliveries.Load()},
		{"earshot_subscriptions_total", "counter", "Subscriptions accepted.", s.counts.subscriptions.Load()},
		{"earshot_subscriptions_rejected_total", "counter", "Subscriptions rejected.", s.counts.rejections.Load()},
		{"earshot_replies_total", "counter", "Replies taken in, whether they counted or not.", s.counts.replies.Load()},
		{"earshot_turns_total", "counter", "Turns started over HTTP.", s.counts.turns.Load()},
		{"earshot_logins_total", "counter", "Logins with a one-time code.", s.counts.logins.Load()},
		{"earshot_logins_failed_total", "counter", "Logins refused.", s.counts.failedLogins.Load()},
	} {
		metric(m.name, m.kind, m.help, m.value)
	}
	for _, c := range s.options.Counters() {
		metric(c.Name, "counter", c.Help, c.Value)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(b.String())) // the client may have gone
	return nil
}
