package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/operate"
)

func (m *Main) turnsCommand() *cobra.Command {
	return parent("turns", "List turns, and show one in full", `List the turns of the ledger, and show one with its calls, its receipts and its end. It takes the
role auditor or operator at a server, and works on the data directory where none runs.`,
		m.turnsListCommand(), m.turnsShowCommand())
}

func (m *Main) turnsListCommand() *cobra.Command {
	limit, all, open := usualSessions, false, false
	c := m.operated(&cobra.Command{
		Use:   "list",
		Short: "List the newest turns, the newest first",
		Args:  noArguments,
	}, func(ctx context.Context, ask operate.Ask, f wordFlags, _ []string) error {
		if limit < 1 {
			return cause.Misuse(fmt.Sprintf("--limit %d is no number of turns", limit), "give one from 1 on, or --all")
		}
		return m.listTurns(ctx, ask, f, open, all, limit)
	})
	c.Flags().BoolVar(&open, "open", false, "only those that have not ended")
	c.Flags().IntVar(&limit, "limit", limit, "how many")
	c.Flags().BoolVar(&all, "all", false, "all of them")
	c.MarkFlagsMutuallyExclusive("limit", "all")
	return c
}

func (m *Main) listTurns(ctx context.Context, ask operate.Ask, f wordFlags, open, all bool, limit int) error {
	list := rows{m: m, asJSON: f.asJSON}
	more := false
	err := operate.EachTurn(ctx, ask, api.SessionsRequest{Open: open, Newest: true}, func(t api.SessionRow) (bool, error) {
		if !all && list.n == limit {
			more = true
			return false, nil
		}
		return true, list.add(t, m.turnLine(t))
	})
	if err != nil {
		return err
	}
	list.end("There are no turns.")
	if more {
		m.tellf("There are older ones: `earshot turns list --all` lists every one, --limit N so many.")
	}
	return nil
}

func (m *Main) turnLine(t api.SessionRow) string {
	parts := []string{fmt.Sprintf("%s: %s, %s of %s, %s.", t.Turn, t.Status, cause.OneLine(t.Agent), cause.OneLine(t.Owner), m.moment(t.Created))}
	for _, text := range []string{t.Request, t.Summary} {
		if text = strings.Join(strings.Fields(text), " "); text != "" {
			parts = append(parts, legible.Value(text))
		}
	}
	return strings.Join(parts, " ")
}

func (m *Main) turnsShowCommand() *cobra.Command {
	return m.operated(&cobra.Command{
		Use:     "show TURN|SESSION",
		Short:   "Show one turn: what was asked for, its calls, its receipts, its end",
		Example: `  earshot turns show turn_0199a1b2c3d47e5f8a9b0c1d2e3f4a5b`,
		Args:    oneName("the id of a turn, or of its session"),
	}, func(ctx context.Context, ask operate.Ask, f wordFlags, args []string) error {
		whole, err := turnNamed(ctx, ask, args[0])
		if err != nil {
			return err
		}
		if f.asJSON {
			return m.writeJSON(whole)
		}
		m.showTurn(whole)
		return nil
	}, offerOne(offerTurns))
}

// turnNamed reads a turn with all of its calls.
func turnNamed(ctx context.Context, ask operate.Ask, name string) (api.TurnDetail, error) {
	var whole api.TurnDetail
	for after := ""; ; {
		var page api.TurnDetail
		if err := ask(ctx, api.OpTurn, api.TurnRequest{Name: name, After: after}, &page); err != nil {
			return whole, err
		}
		if after == "" {
			whole = page
		} else {
			whole.Calls = append(whole.Calls, page.Calls...)
		}
		if !page.More || len(page.Calls) == 0 {
			whole.More = false
			return whole, nil
		}
		after = page.Calls[len(page.Calls)-1].ID
	}
}

func (m *Main) showTurn(t api.TurnDetail) {
	m.field("Turn", t.Turn)
	m.field("Session", t.Session)
	m.field("Project", t.Project)
	m.field("Agent", t.Agent)
	m.field("Owner", t.Owner)
	m.since("Created", t.Created)
	m.field("Status", t.Status)
	if t.End != nil {
		m.field("Ended", strings.TrimSpace(string(t.End.Status)+" "+string(t.End.Code)))
	}
	m.field("Message", t.Message)
	if t.Erased {
		m.sayf("Content: erased; the digests and receipts are kept.")
	}
	if !t.Imported.IsZero() {
		m.field("Imported", m.moment(t.Imported)+", from another ledger; nothing of it runs here")
	}
	m.field("Request", t.Request)
	m.document("Arguments", t.Args)
	for i, c := range t.Calls {
		m.showCall(i+1, c)
	}
	for _, r := range t.Receipts {
		m.sayf("Receipt: question %d, %s by %s on %s, %s. Call %s. Shown %s.",
			r.Question, cause.OneLine(r.Decision), cause.OneLine(r.By), cause.OneLine(r.Surface), m.moment(r.At), r.Call, r.Shown)
	}
}

func (m *Main) showCall(n int, c api.CallDetail) {
	line := fmt.Sprintf("Call %d: %s, %s, %s risk, %s", n, cause.OneLine(c.Tool), c.Class, c.Risk, c.State)
	if c.Status != "" {
		line += ": " + strings.TrimSpace(string(c.Status)+" "+string(c.Code))
	}
	m.sayf("%s. %s.", line, c.ID)
	m.field("  Message", c.Message)
	m.field("  The agent says", c.Says)
	if c.Question > 0 {
		m.field("  Question", strconv.Itoa(c.Question))
	}
	m.field("  Arguments card", c.Card)
	m.field("  Result card", c.Result)
	m.field("  Consent digest", c.Digest)
}
