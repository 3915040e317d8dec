package listen

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
)

const api = "/api/v1"

// listPage is how many sessions are asked for at once.
const listPage = 100

// Identity is who a token stands for.
type Identity struct {
	Name    string   `json:"name"`
	Roles   []string `json:"roles"`
	Surface string   `json:"surface"`
}

// Session is one session as the server lists it.
type Session struct {
	ID      string    `json:"session_id"`
	Turn    string    `json:"turn_id"`
	Agent   string    `json:"agent"`
	Name    string    `json:"name,omitzero"` // what people call it
	Owner   string    `json:"owner,omitzero"`
	Request string    `json:"request,omitzero"`
	Status  string    `json:"status"`
	Summary string    `json:"summary,omitzero"`
	Created time.Time `json:"created"`
	Last    int64     `json:"last_seq"`
	Ended   bool      `json:"ended"`
	End     *End      `json:"end,omitzero"` // where a single session was asked for, and has ended
}

// End is how a session's turn ended, as the ledger has it. Status and Code are UTP's.
type End struct {
	Status string `json:"status"`
	Code   string `json:"code,omitzero"`
	Tally  Tally  `json:"tally"`
}

// Tally counts what became of a turn's calls.
type Tally struct {
	Invoked   int `json:"invoked"`
	Failed    int `json:"failed"`
	Declined  int `json:"declined"`
	Expired   int `json:"expired"`
	Undone    int `json:"undone"` // accepted and taken back
	Unknown   int `json:"unknown"`
	Effects   int `json:"effects"`
	Cancelled int `json:"cancelled"`
	Broken    int `json:"broken"` // accepted and not done, through no word of the person
}

// Open is one open question as the server lists it. Token and Event are there only for
// who may answer.
type Open struct {
	Number   int       `json:"number"`
	Session  string    `json:"session_id"`
	Token    string    `json:"reply_token,omitzero"`
	Call     string    `json:"tool_call_id,omitzero"`
	Tool     string    `json:"tool,omitzero"`
	Kind     string    `json:"kind"` // confirmation or clarification
	Title    string    `json:"title"`
	Name     string    `json:"session_name,omitzero"`
	Agent    string    `json:"agent,omitzero"`
	Request  string    `json:"request,omitzero"` // the beginning of it
	Owner    string    `json:"owner,omitzero"`
	Asked    time.Time `json:"asked"`
	Deadline time.Time `json:"deadline"`
	// Parked: its session is not under way at the server, so that it can be rejected and
	// not accepted.
	Parked bool           `json:"parked,omitzero"`
	Event  jsontext.Value `json:"event,omitzero"`
}

// Turn is a turn to start.
type Turn struct {
	Agent   string         `json:"agent"`
	Args    jsontext.Value `json:"args"`
	Request string         `json:"request,omitzero"`
	Label   string         `json:"label,omitzero"`          // what it is about in a few words
	Answer  int            `json:"answer_seconds,omitzero"` // 0 leaves it to the server
	// Key names the request: within a day the same turn with the same key is begun once, however
	// often it is sent. Default: a random one for each call of [Client.Start].
	Key string `json:"-"`
}

// Started names a new turn.
type Started struct {
	Turn    string `json:"turn_id"`
	Session string `json:"session_id"`
}

// Reply is an answer to a question: Decision to a confirmation, Response to a
// clarification. With a Token only the very question that carries it is meant.
type Reply struct {
	Token    string `json:"reply_token,omitzero"`
	Decision string `json:"decision,omitzero"`
	Response string `json:"response,omitzero"`
}

// Said is what the ledger holds after a word.
type Said struct {
	Question   int       `json:"question,omitzero"`
	Resolution string    `json:"resolution"`
	Deadline   time.Time `json:"deadline,omitzero"`
	// UndoSeconds is for how long an accept can be taken back before it starts.
	UndoSeconds int `json:"undo_seconds,omitzero"`
}

// Spoken is one finished sentence about a session.
type Spoken struct {
	ID       string    `json:"id"`
	Session  string    `json:"session_id"`
	Text     string    `json:"text"`
	Language string    `json:"language,omitzero"`
	Priority string    `json:"priority,omitzero"`
	Kind     string    `json:"kind,omitzero"`
	Question int       `json:"question,omitzero"`
	At       time.Time `json:"at"`
}

// LoginCode lets a browser in once, at the address of the page.
type LoginCode struct {
	Code    string    `json:"code"`
	Page    string    `json:"page"`
	Expires time.Time `json:"expires"`
}

// Me says who the token stands for.
func (c *Client) Me(ctx context.Context) (Identity, error) {
	var me Identity

	err := c.call(ctx, http.MethodGet, api+"/me", nil, &me)

	return me, err
}

// Sessions lists all sessions that may be heard, oldest first; open leaves those out
// that have ended.
func (c *Client) Sessions(ctx context.Context, open bool) ([]Session, error) {
	all, _, err := c.Newest(ctx, open, 0)

	slices.Reverse(all)

	return all, err
}

// Newest lists the newest sessions that may be heard, n of them (0 is all), the newest
// first; open leaves those out that have ended. More says that there are older ones.
func (c *Client) Newest(ctx context.Context, open bool, n int) (all []Session, more bool, err error) {
	for before := ""; ; {
		page, next, err := c.sessionsBefore(ctx, open, before, n-len(all))
		if err != nil {
			return nil, false, err
		}

		all = append(all, page...)

		switch {
		case n > 0 && len(all) >= n:
			return all[:n], next != "" || len(all) > n, nil
		case next == "" || next == before || len(page) == 0:
			return all, false, nil
		}

		before = next
	}
}

// sessionsBefore reads one page of the list, of most sessions where that is above 0.
func (c *Client) sessionsBefore(ctx context.Context, open bool, before string, most int) ([]Session, string, error) {
	var page struct {
		Sessions []Session `json:"sessions"`
		Next     string    `json:"next"`
	}

	query := url.Values{"limit": {strconv.Itoa(listPage)}}
	if most > 0 {
		query.Set("limit", strconv.Itoa(min(most, listPage)))
	}

	if open {
		query.Set("open", "true")
	}

	if before != "" {
		query.Set("before", before)
	}

	err := c.call(ctx, http.MethodGet, api+"/sessions?"+query.Encode(), nil, &page)

	return page.Sessions, page.Next, err
}

// Session describes one session; of one that has ended it says how.
func (c *Client) Session(ctx context.Context, id string) (Session, error) {
	var one Session

	err := c.call(ctx, http.MethodGet, api+"/sessions/"+url.PathEscape(id), nil, &one)

	return one, err
}

// Questions lists the open questions that may be heard, oldest first.
func (c *Client) Questions(ctx context.Context) ([]Open, error) {
	var list struct {
		Questions []Open `json:"questions"`
	}

	err := c.call(ctx, http.MethodGet, api+"/questions", nil, &list)

	return list.Questions, err
}

// Past yields the events of a session up to now.
func (c *Client) Past(ctx context.Context, session string) iter.Seq2[Delivered, error] {
	return func(yield func(Delivered, error) bool) {
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()

		answer, err := c.send(ctx, http.MethodGet, api+"/sessions/"+url.PathEscape(session)+"/events", nil, nil)
		if err != nil {
			yield(Delivered{}, err)

			return
		}

		defer func() { _ = answer.Body.Close() }()

		if answer.StatusCode != http.StatusOK {
			yield(Delivered{}, refused(answer))

			return
		}

		lines := newLines(answer.Body)
		for {
			line, err := lines.next()
			if err != nil && len(line) == 0 {
				if !over(err) {
					yield(Delivered{}, unreachable(answer.Request.URL, err))
				}

				return
			}

			if event, err := aaep.DecodeEvent(line); err == nil && !yield(Delivered{Event: event, Raw: line}, nil) {
				return
			}
		}
	}
}

// Say answers a question by its number and returns what the ledger then holds.
func (c *Client) Say(ctx context.Context, question int, r Reply) (Said, error) {
	return c.word(ctx, questionPath(question, "reply"), r)
}

// More asks for more time for a question.
func (c *Client) More(ctx context.Context, question int, token string) (Said, error) {
	return c.word(ctx, questionPath(question, "extend"), Reply{Token: token})
}

// TakeBack takes an accept back before its action has started.
func (c *Client) TakeBack(ctx context.Context, question int) (Said, error) {
	return c.word(ctx, questionPath(question, "undo"), Reply{})
}

// Halt stops a session: no further step is taken in it.
func (c *Client) Halt(ctx context.Context, session string) (Said, error) {
	return c.word(ctx, api+"/sessions/"+url.PathEscape(session)+"/stop", Reply{})
}

func (c *Client) word(ctx context.Context, path string, r Reply) (Said, error) {
	var said Said

	err := c.call(ctx, http.MethodPost, path, r, &said)

	return said, err
}

func questionPath(question int, verb string) string {
	return api + "/questions/" + strconv.Itoa(question) + "/" + verb
}

// Retell tells the last n sentences about a session again; 0 is the server's own number.
func (c *Client) Retell(ctx context.Context, session string, n int) ([]Spoken, error) {
	var list struct {
		Announcements []Spoken `json:"announcements"`
	}

	path := api + "/sessions/" + url.PathEscape(session) + "/recap"
	if n > 0 {
		path += "?n=" + strconv.Itoa(n)
	}

	err := c.call(ctx, http.MethodGet, path, nil, &list)

	return list.Announcements, err
}

// Wish is what a person wishes of the questions that are put to them: nil where nothing is said of
// it, and 0 what leaves it to policy and tool.
type Wish struct {
	// AnswerSeconds is how long they stay open, UndoSeconds how long an accept can be taken back.
	AnswerSeconds *int `json:"answer_seconds,omitzero"`
	UndoSeconds   *int `json:"undo_seconds,omitzero"`
}

// Prefer sets what the token's person wishes, as far as it is not nil, and tells what then holds.
func (c *Client) Prefer(ctx context.Context, wanted Wish) (Wish, error) {
	method, in := http.MethodGet, any(nil)
	if wanted != (Wish{}) {
		method, in = http.MethodPut, wanted
	}

	var now Wish

	err := c.call(ctx, method, api+"/preferences", in, &now)

	return now, err
}

// Code makes a new one-time code to log a browser in.
func (c *Client) Code(ctx context.Context) (LoginCode, error) {
	var code LoginCode

	err := c.call(ctx, http.MethodPost, api+"/codes", struct{}{}, &code)

	return code, err
}

// about lists what a question is about; it is read once.
func (c *Client) about(ctx context.Context, question int) ([]Item, error) {
	c.mu.Lock()
	items, known := c.arguments[question]
	c.mu.Unlock()

	if known {
		return items, nil
	}

	raw, err := c.About(ctx, question)
	if err != nil {
		return nil, err
	}

	items = c.o.Items(raw)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.arguments[question] = items

	return items, nil
}

// About reads all the arguments that a question is about, page by page. The server takes note that the
// token's owner has read them.
func (c *Client) About(ctx context.Context, question int) (jsontext.Value, error) {
	var (
		all strings.Builder
		at  int64
	)

	for {
		var part struct {
			Next int64  `json:"next"`
			Text string `json:"text"`
		}

		path := questionPath(question, "arguments") + "?offset=" + strconv.FormatInt(at, 10)
		if err := c.call(ctx, http.MethodGet, path, nil, &part); err != nil {
			return nil, err
		}

		all.WriteString(part.Text)

		if part.Next <= at {
			break
		}

		at = part.Next
	}

	return jsontext.Value(all.String()), nil
}
