package server_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// The tests of this file are the rows that are asked of a gateway's approvals in
// https://github.com/envoyproxy/ai-gateway/issues/2073, at /mcp with a host that connects by the address.

// approval is a test of one row.
func approval(t *testing.T, rule string, row func(ctx context.Context, d *desk, asks func(to string) <-chan answer)) {
	t.Helper()
	t.Parallel()
	testkit.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d := newDesk(ctx, t, rule)
	host := d.join(ctx, "2026-07-28")
	defer func() { _ = host.Close() }()
	row(ctx, d, func(to string) <-chan answer { return asksFor(ctx, host, to) })
}

func accept(ctx context.Context, t *testing.T, person *client.Client, q api.OpenQuestion) {
	t.Helper()
	if _, err := person.Reply(ctx, q.Number, api.Reply{Token: q.Token, Decision: "accept"}); err != nil {
		t.Error(err)
	}
}

// TestApprovalSameCall: the very call that was agreed to is carried out, once: the same again is asked for again.
func TestApprovalSameCall(t *testing.T) {
	approval(t, asked, func(ctx context.Context, d *desk, asks func(string) <-chan answer) {
		came := asks("Ada")
		person, first := d.question(ctx)
		accept(ctx, t, person, first)
		if a := <-came; a.err != nil || a.wrong || d.letters() != "Ada" {
			t.Errorf("after the yes: %+v, sent to %q", a, d.letters())
		}
		came = asks("Ada")
		person, again := d.question(ctx, first.Number)
		if d.letters() != "Ada" {
			t.Errorf("without another yes it was sent to %q", d.letters())
		}
		if _, err := person.Reply(ctx, again.Number, api.Reply{Token: again.Token, Decision: "reject"}); err != nil {
			t.Error(err)
		}
		if a := <-came; a.err != nil || !a.wrong || d.letters() != "Ada" {
			t.Errorf("after the no: %+v, sent to %q", a, d.letters())
		}
	})
}

// TestApprovalOtherArguments: a yes counts for the arguments that were shown, and for no others.
func TestApprovalOtherArguments(t *testing.T) {
	approval(t, asked, func(ctx context.Context, d *desk, asks func(string) <-chan answer) {
		ada := asks("Ada")
		_, first := d.question(ctx)
		bob := asks("Bob")
		person, second := d.question(ctx, first.Number)
		if _, err := person.Reply(ctx, second.Number, api.Reply{Token: first.Token, Decision: "accept"}); err == nil {
			t.Error("the token of one question has answered another one")
		}
		accept(ctx, t, person, first)
		if a := <-ada; a.err != nil || a.wrong || d.letters() != "Ada" {
			t.Errorf("after the yes for Ada: %+v, sent to %q", a, d.letters())
		}
		if _, err := person.Reply(ctx, second.Number, api.Reply{Token: second.Token, Decision: "reject"}); err != nil {
			t.Error(err)
		}
		if a := <-bob; a.err != nil || !a.wrong || d.letters() != "Ada" {
			t.Errorf("after the no for Bob: %+v, sent to %q", a, d.letters())
		}
	})
}

// TestApprovalOtherPolicy: where the rules forbid the call after the yes it does not start; where they are stricter it is asked for
// again.
func TestApprovalOtherPolicy(t *testing.T) {
	t.Run("forbidden", func(t *testing.T) {
		approval(t, asked, func(ctx context.Context, d *desk, asks func(string) <-chan answer) {
			came := asks("Ada")
			person, q := d.question(ctx)
			accept(ctx, t, person, q)
			d.rules("decide: deny")
			if a := <-came; a.err != nil || !a.wrong || a.code != "denied_by_policy" || d.letters() != "" {
				t.Errorf("%+v, sent to %q", a, d.letters())
			}
		})
	})
	t.Run("stricter", func(t *testing.T) {
		approval(t, asked, func(ctx context.Context, d *desk, asks func(string) <-chan answer) {
			came := asks("Ada")
			person, q := d.question(ctx)
			accept(ctx, t, person, q)
			d.rules("decide: ask, undo: 4s, start_within: 8s")
			person, again := d.question(ctx, q.Number)
			if d.letters() != "" {
				t.Errorf("by the yes of before it was sent to %q", d.letters())
			}
			accept(ctx, t, person, again)
			if a := <-came; a.err != nil || a.wrong || d.letters() != "Ada" {
				t.Errorf("%+v, sent to %q", a, d.letters())
			}
		})
	})
}

// TestApprovalTimesOut: if nobody answers in time, the call is refused, with the id that it had from the start.
func TestApprovalTimesOut(t *testing.T) {
	approval(t, "decide: ask, timeout: 10s", func(ctx context.Context, d *desk, asks func(string) <-chan answer) {
		came := asks("Ada")
		person, q := d.question(ctx)
		a := <-came
		if a.err != nil || !a.wrong || a.code != "consent_expired" || !strings.Contains(a.call, q.Call) || d.letters() != "" {
			t.Errorf("%+v, sent to %q; the question was of %s", a, d.letters(), q.Call)
		}
		if open, err := person.Questions(ctx); err != nil || len(open) > 0 {
			t.Errorf("the question is still open: %v %v", open, err)
		}
	})
}

// TestApprovalByNobody: where policy decides when nobody is there, a call that is asked for is refused although its time has hardly
// begun, and the manifest names no departure from the rules that want it (CONF-82, CONF-83, C-66).
func TestApprovalByNobody(t *testing.T) {
	approval(t, asked, func(ctx context.Context, d *desk, _ func(string) <-chan answer) {
		if !strings.Contains(d.manifest(ctx), "CONF-82") {
			t.Error("where a question waits, the manifest does not say so")
		}
		d.Close()
		if err := os.WriteFile(d.policy, []byte("questions: {when_nobody: decide}\nrules: [{tool: mail.send, decide: ask}]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		d.open(ctx)
		host := d.join(ctx, "2026-07-28")
		defer func() { _ = host.Close() }()
		if a := <-asksFor(ctx, host, "Ada"); a.err != nil || !a.wrong || a.code != "consent_expired" || d.letters() != "" {
			t.Errorf("%+v, sent to %q", a, d.letters())
		}
		if text := d.manifest(ctx); strings.Contains(text, "CONF-82") || !strings.Contains(text, "CONF-70") {
			t.Errorf("the manifest is %s", text)
		}
	})
}

// manifest reads what the server publishes.
func (d *desk) manifest(ctx context.Context) string {
	d.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL()+"/.well-known/aaep-manifest.json", http.NoBody)
	if err != nil {
		d.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(raw)
}
