package hub

import (
	"context"
	"slices"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// Person is the hub's interface for one principal. Every request is checked against the current rights of the
// principal, and carries its name and surface.
type Person struct {
	hub *Hub
	who access.Principal
}

// As returns the hub's interface for a principal.
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

// Sessions lists the sessions that the principal may follow.
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

// concerns returns those of the requested owners whose sessions the principal may follow.
func concerns(who access.Principal, requested []string) []string {
	mine := append([]string{who.Name}, who.Owners...)
	if len(requested) == 0 {
		return mine
	}
	return slices.DeleteFunc(slices.Clone(requested), func(owner string) bool { return !slices.Contains(mine, owner) })
}

// Session describes one session. It returns [ErrNotFound] both for a session that the principal may not follow and for
// one that does not exist.
func (p *Person) Session(ctx context.Context, id string) (api.SessionRow, error) {
	row, err := p.audibleSession(ctx, api.SessionsRequest{Session: id, Parts: true})
	if row.Owner != p.who.Name { // they are for starting the same again, which the owner does
		row.Args = nil
	}
	return row, err
}

// Events reads a page of a session's events in a language, as a BCP 47 tag. One that is not offered, and "", is that of
// the ledger, whose bytes they then are. Reply tokens are masked for a principal who may not answer.
func (p *Person) Events(ctx context.Context, q api.EventsRequest, language string) (api.EventsAnswer, error) {
	var page api.EventsAnswer
	row, err := p.audibleSession(ctx, api.SessionsRequest{Session: q.Session})
	if err != nil {
		return page, err
	}
	who, err := p.listens()
	if err != nil {
		return page, err
	}
	err = rpc.AskUntil(ctx, p.hub.o.Conn, api.OpEvents, q, &page)
	in := p.hub.serving(language)
	for i := range page.Events {
		event := &page.Events[i]
		event.Body = p.hub.translated(in, q.Session, newEntry(*event)).raw
		if !who.Approves(row.Owner) {
			event.Body = masked(event.Body)
		}
	}
	return page, err
}

// Newest returns the resume point after which a stream misses nothing that is committed later: the id of the newest
// event that the principal may receive, or "" if the ledger is empty. It must not reveal when events of others come. If
// nothing has come for the principal since the hub began, it is the alias of that moment.
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

// Arguments reads the arguments of a question, at most one page of a blob or limit bytes from a byte offset on, and
// their total size. The read is recorded in the principal's name.
func (p *Person) Arguments(ctx context.Context, q api.ArgumentsRequest) ([]byte, int64, error) {
	row, err := p.audibleSession(ctx, api.SessionsRequest{Question: q.Question})
	if err != nil {
		return nil, 0, err
	}
	q.By, q.Credential, q.Surface = "", "", ""
	if p.who.Approves(row.Owner) { // an accept can only cover arguments that the person has read
		q.By, q.Credential, q.Surface = p.who.Name, p.who.Credential, p.who.Surface
	}
	return p.hub.Arguments(ctx, q)
}

// Answer forwards a reply, with the principal's own By and Surface. The questions of [Person.Questions] list their
// arguments.
func (p *Person) Answer(ctx context.Context, r api.ReplyRequest) (api.ReplyAnswer, error) {
	r.Lists = true
	return p.consent(ctx, api.OpAnswer, r)
}

// Extend asks for more time.
func (p *Person) Extend(ctx context.Context, r api.ReplyRequest) (api.ReplyAnswer, error) {
	return p.consent(ctx, api.OpExtend, r)
}

// Undo takes back an accept.
func (p *Person) Undo(ctx context.Context, r api.ReplyRequest) (api.ReplyAnswer, error) {
	return p.consent(ctx, api.OpUndo, r)
}

// Prefer reads, and if the request has a change also sets, the principal's preferences for their questions.
func (p *Person) Prefer(ctx context.Context, q api.PreferRequest) (api.PreferAnswer, error) {
	who, err := p.listens()
	if err != nil {
		return api.PreferAnswer{}, err
	}
	if q.SetsTimes() && !who.Has(access.Approver) {
		return api.PreferAnswer{}, notAllowed("the times of questions are for those who answer", "use a token with the role approver")
	}
	if err := p.hub.checkLanguage(api.Chosen(q.Language)); err != nil {
		return api.PreferAnswer{}, err
	}
	q.Person = who.Name
	return p.hub.Prefer(ctx, q)
}

// Noticed acknowledges that the principal's surface was informed of their accept of a question. token identifies the
// asking of the question, if known.
func (p *Person) Noticed(ctx context.Context, question int, token string) {
	p.hub.Noticed(ctx, api.ReplyRequest{
		Question: question, Token: token, By: p.who.Name, Credential: p.who.Credential, Surface: p.who.Surface,
	})
}

// Stop stops the session's turn. The owner, an approver for the owner, and an operator have this right.
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

// consent forwards commands that only an approver may send. The kernel checks again, in the transaction, whether the
// person may approve.
func (p *Person) consent(ctx context.Context, op string, r api.ReplyRequest) (api.ReplyAnswer, error) {
	who, err := p.hub.current(p.who)
	if err != nil {
		return api.ReplyAnswer{}, err
	}
	if !who.Has(access.Approver) {
		return api.ReplyAnswer{}, notAllowed("only an approver answers questions", "use a token with the role approver")
	}
	if err := attended(who, op, r); err != nil {
		return api.ReplyAnswer{}, err
	}
	row, err := p.audibleSession(ctx, named(r))
	if err != nil {
		return api.ReplyAnswer{}, err
	}
	if !who.Approves(row.Owner) {
		return api.ReplyAnswer{}, notAllowed("the session has another owner, for whom this principal does not approve", "ask the owner, or use a token for that owner")
	}
	r.Language = p.hub.shownIn(r.Language)
	return p.reply(ctx, op, r)
}

func (p *Person) reply(ctx context.Context, op string, r api.ReplyRequest) (api.ReplyAnswer, error) {
	r.By, r.Credential, r.Surface = p.who.Name, p.who.Credential, p.who.Surface
	return p.hub.reply(ctx, op, r)
}

// named returns the query for the session of a command.
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

// audibleSession finds the session that the request names, if the principal may follow it.
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

// listens returns the principal's current rights, if it may follow anything at all.
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

// current looks up the principal's current rights in this project.
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

// session finds one session by its name.
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
