package pipe_test

import (
	"net"
	"testing"

	"github.com/earshot-dev/earshot/aaep/transport/pipe"
	"github.com/earshot-dev/earshot/internal/testkit/framing"
)

// TestBothSend: two ends that send at the same moment both receive, with each framing.
func TestBothSend(t *testing.T) {
	t.Parallel()
	for name, connect := range map[string]func(t *testing.T) (one, other framing.End){
		"lines":    framed(pipe.Lines),
		"lengths":  framed(pipe.Length),
		"JSON-RPC": byRPC,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			framing.BothSend(t, connect)
		})
	}
}

func framed(as pipe.Framing) func(t *testing.T) (one, other framing.End) {
	return func(*testing.T) (one, other framing.End) {
		here, there := net.Pipe()
		o := pipe.Options{Limit: 1 << 10, Framing: as}
		return framing.End{Conn: pipe.New(here, o), Message: []byte(subscribe)}, framing.End{Conn: pipe.New(there, o), Message: []byte(granted)}
	}
}

func byRPC(*testing.T) (one, other framing.End) {
	const reply, event = `{"type":"confirmation.reply","reply_token":"rpl_1"}`, `{"type":"aaep:agent.state.changed"}`
	here, there := net.Pipe()
	return framing.End{Conn: pipe.NewRPC(here, 1<<10), Message: []byte(event), Arrives: []byte(`{"jsonrpc":"2.0","method":"aaep.event","params":` + event + `}`)},
		framing.End{
			Conn:    pipe.New(there, pipe.Options{Limit: 1 << 10, Framing: pipe.Lines}),
			Message: []byte(`{"jsonrpc":"2.0","method":"aaep.reply","params":` + reply + `}`), Arrives: []byte(reply),
		}
}
