package hub

import (
	"cmp"
	"context"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// QuestionOptions select open questions.
type QuestionOptions struct {
	// After skips the questions up to this number, and Limit is the maximum number of questions; 0 means all.
	After, Limit int
	// Peek lists the questions without marking them as shown.
	Peek bool
	// Overview also counts the open questions and says which sessions have one.
	Overview bool
	// Language is the language of their titles and events, as a BCP 47 tag. One that is not offered, and "", is English.
	Language string
}

// QuestionPage is a page of the open questions that a principal may see.
type QuestionPage struct {
	Questions []api.QuestionRow
	// More reports that there are more after this page.
	More bool
	// Total is how many there are in all, and Waiting holds the sessions with an open question, on any page, and whether
	// the principal can answer one of them. Both are part of the overview.
	Total   int
	Waiting map[string]bool
}

// Questions lists the open questions of the sessions that the principal may follow, by number. Unless Peek is set, this
// marks those on the page that the principal can answer as shown, and their time starts. If the principal may not
// answer a question, its token is left out, and masked in its event.
func (p *Person) Questions(ctx context.Context, o QuestionOptions) (QuestionPage, error) {
	who, err := p.listens()
	if err != nil {
		return QuestionPage{}, err
	}
	var page QuestionPage
	if o.Overview {
		if err := p.hub.overview(ctx, who, &page); err != nil {
			return QuestionPage{}, err
		}
	}
	page.Questions, page.More, err = p.hub.questionsFor(ctx, who, o)
	if err == nil && !o.Peek && p.hub.presentAll(ctx, who, page.Questions) {
		page.Questions, page.More, err = p.hub.questionsFor(ctx, who, o)
	}
	in := p.hub.serving(o.Language)
	for i := range page.Questions {
		q := &page.Questions[i]
		p.hub.putInto(in, q)
		if !who.Approves(q.Owner) {
			q.Token, q.Body = "", masked(q.Body)
		}
	}
	return page, err
}

// putInto puts a question into another language: its event, and its title, which is from the event.
func (h *Hub) putInto(t Translation, q *api.QuestionRow) {
	if t == nil || len(q.Body) == 0 {
		return
	}
	e := newEntry(api.EventRow{Seq: q.Seq, Body: q.Body, Template: q.Template, Params: q.Params})
	q.English = title(*q)
	q.Body = h.translated(t, q.Session, e).raw
	q.Title = title(*q)
}

// questionsFor lists the questions that the principal may see.
func (h *Hub) questionsFor(ctx context.Context, who access.Principal, o QuestionOptions) (rows []api.QuestionRow, more bool, err error) {
	request := questionsOf(who)
	if request.After = o.After; o.Limit > 0 {
		request.Limit = o.Limit + 1 // which shows whether there are more
	}
	err = h.eachQuestion(ctx, request, func(q api.QuestionRow) bool {
		if !who.Hears(q.Owner) {
			return true
		}
		if more = o.Limit > 0 && len(rows) == o.Limit; more {
			return false
		}
		q.Title = cmp.Or(q.Title, title(q))
		rows = append(rows, q)
		return true
	})
	return rows, more, err
}

// overview counts the questions that the principal may see, and their sessions.
func (h *Hub) overview(ctx context.Context, who access.Principal, page *QuestionPage) error {
	page.Waiting = map[string]bool{}
	request := questionsOf(who)
	request.Brief = true
	return h.eachQuestion(ctx, request, func(q api.QuestionRow) bool {
		if who.Hears(q.Owner) {
			page.Total++
			page.Waiting[q.Session] = page.Waiting[q.Session] || who.Approves(q.Owner)
		}
		return true
	})
}

// questionsOf asks for the questions of the people whose sessions the principal may follow.
func questionsOf(who access.Principal) api.QuestionsRequest {
	if who.HearsAll() {
		return api.QuestionsRequest{}
	}
	return api.QuestionsRequest{Owners: concerns(who, nil)}
}

// Questions lists all open questions, each with its title.
func (h *Hub) Questions(ctx context.Context) (all []api.QuestionRow, err error) {
	err = h.eachQuestion(ctx, api.QuestionsRequest{}, func(q api.QuestionRow) bool {
		q.Title = cmp.Or(q.Title, title(q))
		all = append(all, q)
		return true
	})
	return all, err
}

// eachQuestion asks for pages of questions until there are no more, or receive returns false.
func (h *Hub) eachQuestion(ctx context.Context, request api.QuestionsRequest, receive func(api.QuestionRow) bool) error {
	for {
		var page api.QuestionsAnswer
		if err := rpc.AskUntil(ctx, h.o.Conn, api.OpQuestions, request, &page); err != nil {
			return err
		}
		for _, q := range page.Questions {
			if !receive(q) {
				return nil
			}
		}
		if page.Next == 0 {
			return nil
		}
		request.After = page.Next
	}
}

// title is the first line of a question, from the event that asks.
func title(q api.QuestionRow) string {
	event, err := aaep.DecodeEvent(q.Body)
	if err != nil {
		return q.Tool
	}
	switch asked := event.Payload.(type) {
	case aaep.AwaitingConfirmation:
		return asked.Action
	case aaep.AwaitingClarification:
		return asked.Question
	default:
		return q.Tool
	}
}
