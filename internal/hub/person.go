package hub

import (
	"cmp"
	"context"
	"slices"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// Person is the hub as one principal may use it: every word is checked against the
// rights that the principal has at that moment, and carries its name and surface.
type Person struct {
	hub *Hub
	who access.Principal
}

// As returns the hub as a principal may use it.
func (h *Hub) As(who access.Principal) *Person { return &Person{hub: h, who: who} }

// Enqueue starts a turn that the principal owns. It takes an approver or an operator.
func (p *Person) Enqueue(ctx context.Context, q api.EnqueueRequest) (api.EnqueueAnswer, error) {
	who, err := p.hub.current(p.who)
	if err != nil {
		return api.EnqueueAnswer{}, err
	}
	if !who.Starts() {
		return api.EnqueueAnswer{}, notAllowed("only an approver or an operator starts turns", "use a token with the role approver")
	}
	q.Owner = who.Name
	return p.hub.Enqueue(ctx, q)
}

// Sessions lists the sessions that the principal may hear.
func (p *Person) Sessions(ctx context.Context, q api.SessionsRequest) ([]api.SessionRow, error) {
	who, err := p.listens()
	if err != nil {
		return nil, err
	}
	if !who.HearsAll() {
		if q.Owners = concerns(who, q.Owners); len(q.Owners) == 0 {
			return nil, nil
		}
	}
	var rows []api.SessionRow
	err = rpc.AskUntil(ctx, p.hub.o.Conn, api.OpSessions, q, &rows)
	return rows, err
}

// concerns are the owners whose sessions the principal may hear, of those wanted.
func concerns(who access.Principal, requested []string) []string {
	mine := append([]string{who.Name}, who.Owners...)
	if len(requested) == 0 {
		return mine
	}
	return slices.DeleteFunc(slices.Clone(requested), func(owner string) bool { return !slices.Contains(mine, owner) })
}

// Session describes one session. What the principal may not hear is [ErrNotFound], as is
// what there is not.
func (p *Person) Session(ctx context.Context, id string) (api.SessionRow, error) {
	return p.audibleSession(ctx, api.SessionsRequest{Session: id})
}

// Events reads a page of a session's events, with reply tokens only for who may answer.
func (p *Person) Events(ctx context.Context, q api.EventsRequest) (api.EventsAnswer, error) {
	var page api.EventsAnswer
	row, err := p.Session(ctx, q.Session)
	if err != nil {
		return page, err
	}
	who, err := p.listens()
	if err != nil {
		return page, err
	}
	err = rpc.AskUntil(ctx, p.hub.o.Conn, api.OpEvents, q, &page)
	if !who.Approves(row.Owner) {
		for i := range page.Events {
			page.Events[i].Body = masked(page.Events[i].Body)
		}
	}
	return page, err
}

// Newest returns a point behind which a stream goes on without missing anything of what is
// committed later: the id of the newest event that the principal may hear, "" where the
// ledger has none. When others' events come is not theirs to know, so that where nothing has
// come for them since the hub began, the point is that moment.
func (p *Person) Newest(ctx context.Context) (string, error) {
	who, err := p.listens()
	if err != nil {
		return "", err
	}
	if who.HearsAll() {
		var now api.SinceAnswer
		err := rpc.AskUntil(ctx, p.hub.o.Conn, api.OpSince, api.SinceRequest{Now: true}, &now)
		return now.Newest, err
	}
	if err := p.hub.feed.wait(ctx); err != nil {
		return "", err
	}
	event, start := p.hub.feed.last(concerns(who, nil))
	if event.n == 0 {
		return start, nil
	}
	rows, err := p.hub.page(ctx, event.session, event.seq-1, 1)
	if err != nil || len(rows) == 0 {
		return start, err
	}
	if c := rows[0].content(); c.unreadable == nil {
		return c.event.ID, nil
	}
	return start, nil
}

// QuestionOptions say which of the open questions are wanted.
type QuestionOptions struct {
	// After leaves out those up to this number, Limit is how many are wanted at most; 0 is all.
	After, Limit int
	// Peek only looks: the list is shown to nobody.
	Peek bool
}

// QuestionPage is a page of the open questions that a principal may hear.
type QuestionPage struct {
	Questions []api.QuestionRow
	// More says that there are more behind it, Total how many there are in all.
	More  bool
	Total int
	// Waiting has the sessions with an open question, on this page or not: whether the principal can answer one of them.
	Waiting map[string]bool
}

// Questions lists the open questions of the sessions that the principal may hear, by
// their numbers. Those on the page that it can answer are shown by that, and their time starts,
// unless it only looks. The token of one that it may not answer is left out, and masked in its event.
func (p *Person) Questions(ctx context.Context, o QuestionOptions) (QuestionPage, error) {
	who, err := p.listens()
	if err != nil {
		return QuestionPage{}, err
	}
	page, err := p.questionPage(ctx, who, o)
	if err == nil && !o.Peek && p.hub.presentAll(ctx, who, page.Questions) {
		page, err = p.questionPage(ctx, who, o)
	}
	for i := range page.Questions {
		if q := &page.Questions[i]; !who.Approves(q.Owner) {
			q.Token, q.Body = "", masked(q.Body)
		}
	}
	return page, err
}

func (p *Person) questionPage(ctx context.Context, who access.Principal, o QuestionOptions) (QuestionPage, error) {
	rows, err := p.hub.Questions(ctx)
	if err != nil {
		return QuestionPage{}, err
	}
	rows = slices.DeleteFunc(rows, func(q api.QuestionRow) bool { return !who.Hears(q.Owner) })
	page := QuestionPage{Total: len(rows), Waiting: map[string]bool{}}
	for _, q := range rows {
		page.Waiting[q.Session] = page.Waiting[q.Session] || who.Approves(q.Owner)
	}
	rows = slices.DeleteFunc(rows, func(q api.QuestionRow) bool { return q.Number <= o.After })
	slices.SortFunc(rows, func(a, b api.QuestionRow) int { return cmp.Compare(a.Number, b.Number) })
	if o.Limit > 0 && len(rows) > o.Limit {
		rows, page.More = rows[:o.Limit], true
	}
	page.Questions = rows
	return page, nil
}

// Arguments reads the arguments that a question is about, at most one page of a blob or limit bytes
// from a byte on, and their whole size. Whose reading it is says the principal.
func (p *Person) Arguments(ctx context.Context, q api.ArgumentsRequest) ([]byte, int64, error) {
	row, err := p.audibleSession(ctx, api.SessionsRequest{Question: q.Question})
	if err != nil {
		return nil, 0, err
	}
	q.By, q.Credential, q.Surface = "", "", ""
	if p.who.Approves(row.Owner) { // what they have read, their yes can be about
		q.By, q.Credential, q.Surface = p.who.Name, p.who.Credential, p.who.Surface
	}
	return p.hub.Arguments(ctx, q)
}

// Answer passes a reply on. By, Surface are the principal's own. The questions that it is given (see
// [Person.Questions]) list what they are about.
func (p *Person) Answer(ctx context.Context, r api.ReplyRequest) (api.ReplyAnswer, error) {
	r.Lists = true
	return p.consent(ctx, api.OpAnswer, r)
}

// Extend asks for more time.
func (p *Person) Extend(ctx context.Context, r api.ReplyRequest) (api.ReplyAnswer, error) {
	return p.consent(ctx, api.OpExtend, r)
}

// Undo takes an accept back.
func (p *Person) Undo(ctx context.Context, r api.ReplyRequest) (api.ReplyAnswer, error) {
	return p.consent(ctx, api.OpUndo, r)
}

// Prefer sets, as far as the request does not only ask, what the principal wishes of the questions
// that are put to them. The person of the request is the principal.
func (p *Person) Prefer(ctx context.Context, q api.PreferRequest) (api.PreferAnswer, error) {
	who, err := p.listens()
	if err != nil {
		return api.PreferAnswer{}, err
	}
	if q.Preferences != (api.Preferences{}) && !who.Has(access.Approver) {
		return api.PreferAnswer{}, notAllowed("the times of questions are for those who answer", "use a token with the role approver")
	}
	q.Person = who.Name
	return p.hub.Prefer(ctx, q)
}

// Noticed says that the principal's surface has been told of their yes to a question, as it was
// asked under the token, where that is known.
func (p *Person) Noticed(ctx context.Context, question int, token string) {
	p.hub.Noticed(ctx, api.ReplyRequest{
		Question: question, Token: token, By: p.who.Name, Credential: p.who.Credential, Surface: p.who.Surface,
	})
}

// Stop stops the session's turn: a right of its own, which the owner, an approver for
// the owner and an operator have.
func (p *Person) Stop(ctx context.Context, r api.ReplyRequest) (api.ReplyAnswer, error) {
	row, err := p.audibleSession(ctx, named(r))
	if err != nil {
		return api.ReplyAnswer{}, err
	}
	who, err := p.hub.current(p.who)
	if err != nil {
		return api.ReplyAnswer{}, err
	}
	if !who.Stops(row.Owner) {
		return api.ReplyAnswer{}, notAllowed("the owner, an approver or an operator stops a session", "use a token with one of these roles")
	}
	r.Session = row.Session
	return p.reply(ctx, api.OpStop, r)
}

// consent carries the words that only an approver says. The kernel looks once more, in
// the transaction, whether the person may approve.
func (p *Person) consent(ctx context.Context, op string, r api.ReplyRequest) (api.ReplyAnswer, error) {
	who, err := p.hub.current(p.who)
	if err != nil {
		return api.ReplyAnswer{}, err
	}
	if !who.Has(access.Approver) {
		return api.ReplyAnswer{}, notAllowed("only an approver answers questions", "use a token with the role approver")
	}
	row, err := p.audibleSession(ctx, named(r))
	if err != nil {
		return api.ReplyAnswer{}, err
	}
	if !who.Approves(row.Owner) {
		return api.ReplyAnswer{}, notAllowed("the session has another owner, for whom this principal does not approve", "ask the owner, or use a token for that owner")
	}
	return p.reply(ctx, op, r)
}

func (p *Person) reply(ctx context.Context, op string, r api.ReplyRequest) (api.ReplyAnswer, error) {
	r.By, r.Credential, r.Surface = p.who.Name, p.who.Credential, p.who.Surface
	return p.hub.reply(ctx, op, r)
}

// named asks for the session that a word is about.
func named(r api.ReplyRequest) api.SessionsRequest {
	switch {
	case r.Token != "":
		return api.SessionsRequest{Token: r.Token}
	case r.Question != 0:
		return api.SessionsRequest{Question: r.Question}
	default:
		return api.SessionsRequest{Session: r.Session}
	}
}

// audibleSession finds the session that the request names, if the principal may hear it.
func (p *Person) audibleSession(ctx context.Context, q api.SessionsRequest) (api.SessionRow, error) {
	who, err := p.listens()
	if err != nil {
		return api.SessionRow{}, err
	}
	row, found, err := p.hub.session(ctx, q)
	if err != nil {
		return row, err
	}
	if !found || !who.Hears(row.Owner) {
		return api.SessionRow{}, ErrNotFound
	}
	return row, nil
}

// listens returns the principal's present rights, if it may hear anything at all.
func (p *Person) listens() (access.Principal, error) {
	who, err := p.hub.current(p.who)
	if err != nil {
		return who, err
	}
	if !who.Subscribes() {
		return who, notAllowed("only listeners, approvers, auditors and operators hear sessions", "use a token with one of these roles")
	}
	return who, nil
}

// current looks up the principal's rights as they are now, in this project.
func (h *Hub) current(who access.Principal) (access.Principal, error) {
	now, err := h.o.Rights.Current(who)
	if err != nil {
		return access.Principal{}, &Error{Code: CodeRevoked, Message: "what " + who.Name + " has shown does not count any more", Hint: "log in again", Err: err}
	}
	if !now.Reaches(h.o.Project) {
		return access.Principal{}, notAllowed("the rights do not hold in the project "+h.o.Project, "use a token for this project")
	}
	return now, nil
}

// session finds one session by a name of its own.
func (h *Hub) session(ctx context.Context, q api.SessionsRequest) (row api.SessionRow, found bool, err error) {
	if q.Session == "" && q.Token == "" && q.Question == 0 {
		return row, false, nil // that would be a list
	}
	var rows []api.SessionRow
	if err := rpc.AskUntil(ctx, h.o.Conn, api.OpSessions, q, &rows); err != nil {
		return row, false, err
	}
	if len(rows) != 1 {
		return row, false, nil
	}
	return rows[0], true, nil
}

// Questions lists all open questions, each with its title.
func (h *Hub) Questions(ctx context.Context) ([]api.QuestionRow, error) {
	var all []api.QuestionRow
	for after := ""; ; {
		var page api.QuestionsAnswer
		if err := rpc.AskUntil(ctx, h.o.Conn, api.OpQuestions, api.QuestionsRequest{After: after}, &page); err != nil {
			return nil, err
		}
		for _, q := range page.Questions {
			q.Title = cmp.Or(q.Title, title(q))
			all = append(all, q)
		}
		if page.Next == "" {
			return all, nil
		}
		after = page.Next
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
