package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/gateway/mcp"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// The times of a person who takes 400 s, where Codex gives a call up after 300 s by default and the gateway answers after 240 s, as by
// default: each divided by 60. The undo window (3 s), the time within which a yes counts (8 s) and the pauses of the gateway's requests are
// as they are: the server has a clock of its own, with sockets and a file beside it, which virtual time does not reach.
const (
	scale       = 60
	codexWall   = 300 * time.Second / scale
	gatewayWall = 240 * time.Second / scale
	answerAfter = 400 * time.Second / scale
)

// stdioHost connects a host by the gateway that `earshot mcp serve` is, over pipes.
func (d *desk) stdioHost(ctx context.Context, version string) *sdk.ClientSession {
	d.t.Helper()
	g := mcp.New(mcp.Options{
		Dial: func(ctx context.Context, host string) (mcp.Agent, error) {
			a, err := client.DialAgent(ctx, client.Options{URL: d.URL(), Token: d.token, Name: host})
			if err != nil {
				return nil, err
			}
			return mcp.Client{Agent: a}, nil
		},
		Key: "codex", Holder: "process 1", Label: "photos", Wall: gatewayWall, ProgressInterval: 15 * time.Second / scale,
	})
	theirs, ours := sdk.NewInMemoryTransports()
	gone := make(chan error, 1)
	go func() { gone <- g.Run(ctx, theirs) }()
	c := sdk.NewClient(&sdk.Implementation{Name: "codex-mcp-client", Version: "1"}, nil)
	s, err := c.Connect(ctx, ours, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = s.Close()
		if err := <-gone; err != nil {
			d.t.Errorf("the gateway: %v", err)
		}
	})
	return s
}

// TestAnswerAfterTheWall: the person answers after the time at which the host gives a call up. Its model hears before that the call is open,
// waits again, or asks for the same again, and the yes has one effect.
func TestAnswerAfterTheWall(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, goesOn := range []string{"earshot_wait", "the same call"} {
		for _, version := range []string{"2025-06-18", "2026-07-28"} {
			t.Run(goesOn+", "+version, func(t *testing.T) {
				t.Parallel()
				t.Attr("counts", "effects")
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				d := newDesk(ctx, t, asked)
				host := d.stdioHost(ctx, version)
				person, late := make(chan error, 1), time.After(answerAfter)
				go func() { person <- d.acceptsAfter(ctx, late) }()
				open, text := untilDone(ctx, t, host, goesOn)
				if err := <-person; err != nil {
					t.Error(err)
				}
				if open == 0 || text != `"sent"` || d.letters() != "Ada" {
					t.Errorf("open %d times, then %s, sent to %q; expected once or more, then sent, once, to Ada", open, text, d.letters())
				}
			})
		}
	}
}

// untilDone asks for a letter until there is a result, by one tool or by the same call. It returns how often the call was open before.
func untilDone(ctx context.Context, t *testing.T, host *sdk.ClientSession, goesOn string) (open int, text string) {
	t.Helper()
	letter := &sdk.CallToolParams{Name: "mail_send", Arguments: map[string]any{"to": "Ada"}}
	for next := letter; ; open++ {
		r, err := withinWall(ctx, host, next)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil { // the machine was slow: Codex's model is told so, and asks again
			next = letter
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		c, is := r.Content[0].(*sdk.TextContent)
		if !is || r.IsError || !strings.Contains(c.Text, "Not done yet.") {
			return open, c.Text
		}
		if goesOn == "earshot_wait" {
			next = &sdk.CallToolParams{Name: goesOn, Arguments: map[string]any{"call_id": member(r, "call_id")}}
		}
	}
}

// withinWall makes a call that the host gives up at its wall, and cancels.
func withinWall(ctx context.Context, host *sdk.ClientSession, p *sdk.CallToolParams) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(ctx, codexWall)
	defer cancel()
	return host.CallTool(ctx, p)
}

// acceptsAfter accepts the open question late. Nothing is done before.
func (d *desk) acceptsAfter(ctx context.Context, late <-chan time.Time) error {
	select {
	case <-late:
	case <-ctx.Done():
		return ctx.Err()
	}
	if sent := d.letters(); sent != "" {
		return errors.New("before the yes a letter was sent to " + sent)
	}
	person, err := client.Dial(ctx, client.Options{URL: d.URL(), Token: d.PersonToken()})
	if err != nil {
		return err
	}
	open, err := person.Questions(ctx)
	if err != nil || len(open) != 1 {
		return errors.Join(err, errors.New("the question is not open, or not alone"))
	}
	_, err = person.Reply(ctx, open[0].Number, api.Reply{Token: open[0].Token, Decision: "accept"})
	return err
}
