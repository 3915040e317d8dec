package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/queue"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

const (
	eventPage = 200
	// listPage is how many sessions one answer holds, sincePage how many sessions with new events.
	listPage  = 200
	sincePage = 1000
	// questionPage is how many open questions one answer holds, and briefPage how many if it only says whose they are.
	questionPage, briefPage = 256, 2000
	// lineLimit is how much of a request or a summary a list shows.
	lineLimit = 1 << 10
	// shortLimit is how much of a request is shown with a question, of which a list has hundreds.
	shortLimit = 256
	// maxOverlap bounds how far back before a point a hub may read.
	maxOverlap = time.Hour
)

// Sessions lists sessions, or finds one by a name.
func (ad *Admin) Sessions(ctx context.Context, q api.SessionsRequest) ([]api.SessionRow, error) {
	if q.Session != "" || q.Token != "" || q.Question != 0 {
		return ad.findSession(ctx, q)
	}
	f := store.TurnFilter{Open: q.Open, Owners: q.Owners, Newest: q.Newest, After: q.After, Limit: q.Limit}
	if f.Limit <= 0 || f.Limit > listPage {
		f.Limit = listPage
	}
	if q.Ended {
		f.Statuses = []turn.Status{turn.Ended}
	}
	var out []api.SessionRow
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		rows, err := tx.Turns(f)
		if err != nil {
			return err
		}
		w := waits{ad: ad, tx: tx, wanted: q.Waits, queues: map[string][]queue.Entry{}}
		out, err = sessionPage(rows, w)
		return err
	})
	return out, err
}

// sessionPage returns as many of the rows as fit in one message, at least the first.
func sessionPage(rows []store.TurnRow, w waits) ([]api.SessionRow, error) {
	var out []api.SessionRow
	room := api.InlineLimit
	for _, r := range rows {
		row := sessionRow(r)
		if err := w.add(&row); err != nil {
			return nil, err
		}
		raw, err := json.Marshal(row)
		if err != nil {
			return nil, store.Unexpected("a session", err)
		}
		if room -= len(raw); room < 0 && len(out) > 0 {
			break
		}
		out = append(out, row)
	}
	return out, nil
}

func sessionRow(r store.TurnRow) api.SessionRow {
	return api.SessionRow{
		Session: r.Session, Turn: r.Turn, Agent: r.Agent, Name: r.Name, Owner: r.Owner, Status: string(r.Status), Created: r.Created,
		Request: store.Clip(r.Request, lineLimit), Summary: store.Clip(r.Summary, lineLimit), Last: r.Last, Ended: r.Status == turn.Ended,
	}
}

// findSession finds one session. A name that leads nowhere gives an empty list.
func (ad *Admin) findSession(ctx context.Context, q api.SessionsRequest) ([]api.SessionRow, error) {
	var out []api.SessionRow
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.RefOf(api.ReplyRequest{Token: q.Token, Question: q.Question, Session: q.Session}))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		rows, err := tx.Turns(store.TurnFilter{Turn: rec.State.Turn, Limit: 1})
		for _, r := range rows {
			row := sessionRow(r)
			row.QuietSince = rec.State.QuietSince(ad.o.Timestamp())
			if row.End, err = sessionEnd(tx, rec.State); err != nil {
				return err
			}
			if len(rec.Args) <= api.MaxRowArgs {
				row.Args = rec.Args
			}
			row.Request = store.Clip(rec.Request, api.MaxRowArgs)
			if q.Parts {
				if err := addParts(tx, rec.State, &row); err != nil {
					return err
				}
			}
			out = append(out, row)
		}
		return err
	})
	return out, err
}

// sessionEnd returns how a turn ended; nil while it has not.
func sessionEnd(tx store.Tx, st turn.State) (*api.SessionEnd, error) {
	if st.End == nil {
		return nil, nil //nolint:nilnil // nil is a valid value: the turn has not ended
	}
	end := &api.SessionEnd{Status: st.End.Status, Code: st.End.Code, Tally: st.Tally}
	if st.End.Deliverable == "" {
		return end, nil
	}
	card, err := store.ReadCard(tx, st.End.Deliverable)
	if errors.Is(err, store.ErrNotFound) || err == nil && card.TurnID() != st.Turn { // erased, or named by an import that has no such card
		return end, nil
	}
	if err != nil {
		return nil, err
	}
	if end.Fields, err = utp.DecodeDeliverable(card); err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	return end, nil
}

// Since returns which sessions have new events after a given one.
func (ad *Admin) Since(ctx context.Context, q api.SinceRequest) (api.SinceAnswer, error) {
	at := store.Point{Event: q.Event, Overlap: min(time.Duration(max(q.OverlapMS, 0))*time.Millisecond, maxOverlap), Limit: sincePage, Owners: q.Owners}
	if q.Now {
		at = store.Point{}
	}
	var a api.SinceAnswer
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		p, err := tx.Since(at)
		if err != nil {
			return err
		}
		if p.More && !q.Now {
			return api.NewFault(utp.CodeTooLarge, "too many sessions have changed since then; list them from the beginning")
		}
		a = api.SinceAnswer{Newest: p.Newest, Owner: p.Owner}
		for _, s := range p.Sessions {
			a.Sessions = append(a.Sessions, api.SinceRow{Session: s.Session, Seq: s.Seq, Last: s.Last, Owner: s.Owner, Ended: s.Ended})
		}
		return nil
	})
	return a, err
}

// Events reads a page of a session's events, as many as fit in one message.
func (ad *Admin) Events(ctx context.Context, q api.EventsRequest) (api.EventsAnswer, error) {
	var a api.EventsAnswer
	limit := q.Limit
	if limit <= 0 || limit > eventPage {
		limit = eventPage
	}
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Session: q.Session})
		if err != nil {
			return err
		}
		rows, err := tx.Events(store.EventFilter{Session: q.Session, After: q.After, Limit: limit})
		if err != nil {
			return err
		}
		a.More = len(rows) == limit
		room := api.InlineLimit
		for i, e := range rows {
			if room -= len(e.Body) + len(e.Params); room < 0 && i > 0 {
				a.More = true
				break
			}
			a.Events = append(a.Events, api.EventRow{Seq: e.Seq, Body: e.Body, Template: e.Template, Params: e.Params})
		}
		a.Ended = rec.State.Status == turn.Ended
		return nil
	})
	return a, err
}

// Questions lists a page of open questions by their numbers, each with the event that asks it.
func (ad *Admin) Questions(ctx context.Context, q api.QuestionsRequest) (api.QuestionsAnswer, error) {
	limit := questionPage
	if q.Brief {
		limit = briefPage
	}
	if q.Limit > 0 {
		limit = min(limit, q.Limit)
	}
	var a api.QuestionsAnswer
	err := ad.o.Ledger.View(ctx, func(tx store.Tx) error {
		open, err := tx.OpenQuestions(store.QuestionFilter{Owners: q.Owners, After: q.After, Limit: limit + 1})
		if err != nil {
			return err
		}
		a = api.QuestionsAnswer{}
		if len(open) > limit {
			open = open[:limit]
			a.Next = open[limit-1].Number
		}
		if q.Brief {
			for _, o := range open {
				a.Questions = append(a.Questions, api.QuestionRow{Number: o.Number, Session: o.Session, Owner: o.Owner})
			}
			return nil
		}
		return ad.questionPage(tx, open, &a)
	})
	return a, err
}

// questionPage adds as many of the questions as fit in one message, at least the first.
func (ad *Admin) questionPage(tx store.Tx, open []store.OpenQuestion, a *api.QuestionsAnswer) error {
	turns := map[string]store.Record{}
	room := api.InlineLimit
	for i, o := range open {
		rec, found := turns[o.Turn]
		if !found {
			var err error
			if rec, err = ad.readable(tx, o.Turn); err != nil {
				return err
			}
			turns[o.Turn] = rec
		}
		n := slices.IndexFunc(rec.Questions, func(q consent.Question) bool { return q.Number == o.Number && q.State == consent.Open })
		if n < 0 {
			continue
		}
		r, err := questionRow(tx, rec, rec.Questions[n])
		if err != nil {
			return err
		}
		if room -= len(r.Body) + len(r.Params); room < 0 && len(a.Questions) > 0 {
			a.Next = open[i-1].Number
			return nil
		}
		r.Parked = !ad.o.Active(o.Turn)
		a.Questions = append(a.Questions, r)
	}
	return nil
}

// readable reads a turn. An unreadable one is the zero value, so that it does not block the questions of others.
func (ad *Admin) readable(tx store.Tx, id string) (store.Record, error) {
	rec, err := tx.Turn(store.TurnRef{Turn: id})
	if errors.Is(err, store.ErrDamaged) {
		ad.o.Logger.Warn("questions", "turn", id, "error", err)
		return store.Record{}, nil
	}
	return rec, err
}

func questionRow(tx store.Tx, rec store.Record, q consent.Question) (api.QuestionRow, error) {
	call, _ := rec.State.FindQuestion(q.Number)
	r := api.QuestionRow{
		Number: q.Number, Session: q.SessionID, Token: q.Token, Deadline: q.Deadline(), Asked: q.AskedAt, Extensions: q.Extensions,
		Unseen: q.Unseen || q.Waiting, Kind: string(q.Kind), Call: call.ID, Tool: call.Tool, Owner: rec.State.Owner, Agent: rec.State.Agent,
		Name: rec.State.Name, Request: store.Clip(rec.Request, shortLimit),
	}
	for _, p := range rec.Presented {
		if p.Question != q.Number {
			continue
		}
		e, err := store.OneRow(tx.Events(store.EventFilter{IDs: []string{p.Event}}))
		if errors.Is(err, store.ErrNotFound) {
			return r, nil
		}
		r.Event, r.Seq, r.Body, r.Template, r.Params = e.ID, e.Seq, e.Body, e.Template, e.Params
		return r, err
	}
	return r, nil
}
