package tool_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// sourced runs a service whose tools a source tells. Offers are handed over one by one.
func sourced(t *testing.T, body func(t *testing.T, k *kernel, offer func(...tool.Tool) error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		k := newKernel(t)
		offers, answers := make(chan []tool.Tool), make(chan error)
		ctx, stop := context.WithCancel(t.Context())
		s, err := tool.New(tool.Options{Conn: k, Target: "files", Source: func(ctx context.Context, offer tool.Offer) error {
			for {
				select {
				case tools := <-offers:
					answers <- offer(ctx, tools)
				case <-ctx.Done():
					return nil
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		synctest.Wait()
		body(t, k, func(tools ...tool.Tool) error {
			offers <- tools
			return <-answers
		})
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// saying is a tool that says a word.
func saying(word, options string) tool.Tool {
	d := definition()
	d.Options = jsontext.Value(options)
	return tool.Tool{Definition: d, Run: func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{Value: word}, nil }}
}

// TestSource: what a source offers is registered where it is new or has changed, and served; what is refused is left out
// and named, and the rest is served.
func TestSource(t *testing.T) {
	t.Parallel()
	sourced(t, func(t *testing.T, k *kernel, offer func(...tool.Tool) error) {
		t.Helper()
		k.command("tc_before", "run")
		if got := k.finished(); got.Error == nil || got.Error.Code != utp.CodeUnknownTool {
			t.Errorf("before there is a tool: %+v", got)
		}
		other := saying("other", `{}`)
		other.Definition.Tool = "other"
		k.mu.Lock()
		k.answer[api.OpRegister] = func(_ int, request jsontext.Value) (any, error) {
			if strings.Contains(string(request), `"other"`) {
				return nil, &api.Fault{Code: utp.CodeTooManyTools, Message: "no more"}
			}
			return struct{}{}, nil
		}
		k.mu.Unlock()
		if err := offer(saying("one", `{"v":1}`), other); err == nil || !strings.Contains(err.Error(), "registering other") {
			t.Errorf("the refused tool: %v", err)
		}
		k.command("tc_one", "run")
		if got := string(k.finished().Result.Inline); got != `"one"` {
			t.Errorf("it says %s", got)
		}
		registered := k.count(api.OpRegister)
		if err := offer(saying("same", `{"v":1}`)); err != nil || k.count(api.OpRegister) != registered {
			t.Errorf("the same definition: %v, registered %d times", err, k.count(api.OpRegister)-registered)
		}
		if err := offer(saying("two", `{"v":2}`)); err != nil || k.count(api.OpRegister) != registered+1 {
			t.Errorf("another definition: %v, registered %d times", err, k.count(api.OpRegister)-registered)
		}
		k.command("tc_two", "run")
		if got := string(k.finished().Result.Inline); got != `"two"` {
			t.Errorf("it says %s", got)
		}
	})
}

// TestSourceSaysWhatItServes: after each offer the kernel is told which tools there are, without those that were refused; a call of one
// that has gone ends with nothing done.
func TestSourceSaysWhatItServes(t *testing.T) {
	t.Parallel()
	sourced(t, func(t *testing.T, k *kernel, offer func(...tool.Tool) error) {
		t.Helper()
		said := func(want ...string) {
			t.Helper()
			k.mu.Lock()
			defer k.mu.Unlock()
			var q api.ServesRequest
			k.read(k.asked[api.OpServes][len(k.asked[api.OpServes])-1], &q)
			if !slices.Equal(q.Tools, want) {
				t.Errorf("it says that it has %q, not %q", q.Tools, want)
			}
		}
		one, other := saying("one", `{}`), saying("other", `{}`)
		other.Definition.Tool = "other"
		if err := offer(one, other); err != nil {
			t.Fatal(err)
		}
		said(one.Definition.Tool, "other")
		if err := offer(other); err != nil {
			t.Fatal(err)
		}
		said("other")
		k.command("tc_one", "run")
		if got := k.finished(); got.Error == nil || got.Error.Code != utp.CodeUnknownTool {
			t.Errorf("the call of a tool that has gone: %+v", got)
		}
		if err := offer(); err != nil {
			t.Fatal(err)
		}
		said()
	})
}

// TestSourceChangesWhileItStarts: a call whose start was asked for before the tool changed never runs what it changed to.
func TestSourceChangesWhileItStarts(t *testing.T) {
	t.Parallel()
	sourced(t, func(t *testing.T, k *kernel, offer func(...tool.Tool) error) {
		t.Helper()
		if err := offer(saying("before", `{"v":1}`)); err != nil {
			t.Fatal(err)
		}
		asked, granted := make(chan struct{}), make(chan struct{})
		k.mu.Lock()
		k.answer[api.OpStart] = func(int, jsontext.Value) (any, error) {
			close(asked)
			<-granted
			return k.granted("tc_1"), nil
		}
		k.mu.Unlock()
		k.command("tc_1", "run")
		<-asked
		if err := offer(saying("after", `{"v":2}`)); err != nil {
			t.Fatal(err)
		}
		close(granted)
		synctest.Wait()
		if got := string(k.finished().Result.Inline); got != `"before"` {
			t.Errorf("it ran the tool that says %s", got)
		}
	})
}

// TestUnclaimed: a tool may leave its class to the operator alone, and then what counts for a call is what the kernel says;
// where that says nothing, it is irreversible.
func TestUnclaimed(t *testing.T) {
	t.Parallel()
	for class, want := range map[utp.Class]utp.Code{utp.Read: utp.CodeInternalError, "": utp.CodeOutcomeUnknown, utp.Irreversible: utp.CodeOutcomeUnknown} {
		broken := tool.Tool{Definition: definition(), Unclaimed: true, Run: func(context.Context, *tool.Call) (tool.Result, error) { panic("it broke") }}
		broken.Definition.Class, broken.Definition.Risk = "", ""
		sourced(t, func(t *testing.T, k *kernel, offer func(...tool.Tool) error) {
			t.Helper()
			if err := offer(broken); err != nil {
				t.Fatal(err)
			}
			var q api.RegisterRequest
			k.read(k.asked[api.OpRegister][0], &q)
			if q.Definition.Class != "" || q.Definition.Risk != "" {
				t.Errorf("it is registered as %q, %q", q.Definition.Class, q.Definition.Risk)
			}
			k.mu.Lock()
			k.answer[api.OpStart] = func(int, jsontext.Value) (any, error) {
				a := k.granted("tc_1")
				a.Class = class
				return a, nil
			}
			k.mu.Unlock()
			k.command("tc_1", "run")
			if got := k.finished(); got.Error == nil || got.Error.Code != want {
				t.Errorf("a panic of the class %q is told as %+v, want %s", class, got.Error, want)
			}
		})
	}
}

// TestSourceOptions: a service has tools or a source of them, and with a source its name.
func TestSourceOptions(t *testing.T) {
	t.Parallel()
	source := func(context.Context, tool.Offer) error { return errors.New("never") }
	for name, o := range map[string]tool.Options{
		"neither": {}, "both": {Source: source, Target: "files", Tools: []tool.Tool{saying("a", `{}`)}}, "no name": {Source: source}, "no token": {Source: source, Target: "a.b"},
	} {
		o.Conn = newKernel(t)
		if _, err := tool.New(o); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
}
