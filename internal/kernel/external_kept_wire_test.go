package kernel_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	wire "github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// TestForeignKeptOnTheWire: over the real bus, a third-party service keeps its card and is cut off. Its
// successor keeps another one, and is told that the call is done: the first card is the result, and what
// that says is to follow, follows.
func TestForeignKeptOnTheWire(t *testing.T) {
	t.Parallel()
	y := newYard(t, "words.count")
	words := y.connect(wire.External, "words")
	commands := y.commandsOf(words)
	turn := y.counts(words)
	_, _, g := y.commanded(turn, commands)
	first := g.Result
	first = jsontext.Value(strings.Replace(string(first), `"after_execution": "suspend"`, `"after_execution": "terminate"`, 1))
	y.check(rpc.Ask(y.ctx, words, api.OpCard, api.CardRequest{Card: first}, nil))
	second := jsontext.Value(strings.Replace(string(first), `4c1"`, `4c2"`, 1))
	if err := rpc.Ask(y.ctx, words, api.OpCard, api.CardRequest{Card: second}, nil); !rpc.Code(err, utp.CodeDone) {
		t.Errorf("a second card: %v; want done", err)
	}
	y.ends(turn.Session)
	for row, err := range y.hub.Follow(y.ctx, turn.Session, 0) {
		y.check(err)
		if strings.Contains(string(row.Body), "That was all.") {
			t.Error("the agent was asked for another step after the result that ends its turn")
		}
	}
}

// TestForeignWaitsOnTheWire: the command of a service that is not connected waits for it. Over core NATS it
// would be lost, and the call with it.
func TestForeignWaitsOnTheWire(t *testing.T) {
	t.Parallel()
	y := newYard(t, "words.count")
	words := y.connect(wire.External, "words") // it may ask, and hears nothing yet
	turn := y.counts(words)
	for row, err := range y.hub.Follow(y.ctx, turn.Session, 0) {
		y.check(err)
		if strings.Contains(string(row.Body), "tool.invoked") {
			break
		}
	}
	_, _, g := y.commanded(turn, y.commandsOf(words))
	y.check(rpc.Ask(y.ctx, words, api.OpCard, api.CardRequest{Card: g.Result}, nil))
	y.check(words.sent(y.ctx, g.Report.message("earshot.v1.home.kernel.report"), nil))
	y.ends(turn.Session)
}
