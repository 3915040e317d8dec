package server_test

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/server"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// letter is the tool of the page's button.
func letter(sent chan<- string) server.Service {
	type mail struct {
		To string `json:"to"`
	}
	t := tool.Must(tool.Func(utp.Definition{
		Tool: "mail.send", Description: "Send a letter.", Class: utp.Irreversible, Risk: utp.RiskHigh, Options: jsontext.Value(`{"ui_allowed":true}`),
	}, func(_ context.Context, c *tool.Call, m mail) (string, error) {
		if err := c.Ready(); err != nil {
			return "", err
		}
		sent <- m.To
		return "sent", nil
	}))
	return server.Service{Name: "mail", Tools: []tool.Tool{t}}
}

// TestAction: the button of a page, with a program's token, over HTTP. A person is asked, the program's token cannot answer,
// nothing waits at the page, and what came of it is there when the page asks again.
func TestAction(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	sent := make(chan string, 8)
	d := &desk{t: t, policy: t.TempDir() + "/policy.yaml"}
	d.rules(asked)
	d.o = server.Options{Data: t.TempDir(), HTTP: "127.0.0.1:0", Policy: d.policy, Services: []server.Service{letter(sent)}}
	d.open(ctx)
	t.Cleanup(func() { d.Close() })
	page := d.agent(ctx, "page")
	press := func(q api.AgentAction) api.ActionAnswer {
		t.Helper()
		a, err := page.Act(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	q := api.AgentAction{Action: "a1", Tool: "mail.send", Args: jsontext.Value(`{"to":"Ada"}`)}
	first := press(q)
	if first.Status != api.ActionAccepted || first.Agent != "page" || first.Session == "" {
		t.Fatalf("it is %+v", first)
	}
	person, err := client.Dial(ctx, client.Options{URL: d.URL(), Token: d.PersonToken()})
	if err != nil {
		t.Fatal(err)
	}
	open, err := person.Questions(ctx)
	if err != nil || len(open) != 1 {
		t.Fatalf("%d questions are open, %v", len(open), err)
	}
	yes := api.Reply{Token: open[0].Token, Decision: "accept"}
	if programs, err := client.Dial(ctx, client.Options{URL: d.URL(), Token: d.Token()}); err != nil {
		t.Fatal(err)
	} else if _, err := programs.Reply(ctx, open[0].Number, yes); err == nil {
		t.Error("a program's token has answered")
	}
	if _, err := person.Reply(ctx, open[0].Number, yes); err != nil {
		t.Fatal(err)
	}
	c, err := page.Session(first.Session).Wait(ctx, first.Call, client.MaxWait)
	if err != nil || c.Status != utp.StatusSuccess {
		t.Errorf("its call is %+v, %v", c, err)
	}
	if to := <-sent; to != "Ada" || len(sent) != 0 {
		t.Errorf("sent to %s, and %d more", to, len(sent))
	}
	if done := press(q); done.Status != api.ActionDone || done.Call != first.Call || done.Card == "" {
		t.Errorf("it is %+v", done)
	}
	q.Args = jsontext.Value(`{"to":"Ben"}`)
	if a := press(q); a.Status != api.ActionRejected || a.Code != utp.CodeConflict {
		t.Errorf("other arguments under its id are %+v", a)
	}
	if a := press(api.AgentAction{Action: "a2", Tool: "none", Args: jsontext.Value(`{}`)}); a.Code != utp.CodeToolDefinitionMissing || a.Session != "" {
		t.Errorf("an unknown tool is %+v", a)
	}
	q.Owner = "somebody else"
	if _, err := page.Act(ctx, q); err == nil {
		t.Error("it acts for a person whom its token does not name")
	}
}
