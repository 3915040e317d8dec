package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/utp"
)

// kernel answers what a hub asks, with one session of 7 events, read three at a time.
type kernel struct {
	asked []string
	fail  error
}

func (k *kernel) Request(_ context.Context, op string, raw []byte) ([]byte, error) {
	k.asked = append(k.asked, op+" "+string(raw))
	if k.fail != nil {
		if fault, refused := errors.AsType[*api.Fault](k.fail); refused {
			return api.EncodeAnswer(nil, fault), nil
		}
		return nil, k.fail
	}
	switch op {
	case api.OpSessions:
		return k.sessions(raw)
	case api.OpEvents:
		return k.events(raw)
	case api.OpQuestions:
		return api.EncodeAnswer(api.QuestionsAnswer{Questions: []api.QuestionRow{
			{Number: 2, Session: "sess_1", Token: "rpl_2", Kind: "confirmation", Title: "Delete?", Owner: "ada", Call: "tc_1", Body: jsontext.Value(`{"here":true}`)},
			{Number: 3, Session: "sess_1", Token: "rpl_3", Kind: "confirmation", Title: "Delete more?", Owner: "ada", Body: jsontext.Value(`{"n":5}`)},
			{Number: 4, Session: "sess_2", Token: "rpl_4", Kind: "confirmation", Title: "Not hers.", Owner: "eve", Body: jsontext.Value(`{}`)},
		}}, nil), nil
	case api.OpArguments:
		return api.EncodeAnswer(api.GetAnswer{Data: []byte("{}"), Size: 2}, nil), nil
	case api.OpEnqueue:
		return api.EncodeAnswer(api.EnqueueAnswer{Turn: "turn_1", Session: "sess_1"}, nil), nil
	case api.OpSince:
		return api.EncodeAnswer(api.SinceAnswer{Newest: "evt_7"}, nil), nil
	}
	var reply api.ReplyRequest
	if err := json.Unmarshal(raw, &reply); err != nil {
		return nil, err
	}
	if reply.Token != "" && reply.Question != 0 && reply.Token != fmt.Sprintf("rpl_%d", reply.Question) {
		return api.EncodeAnswer(nil, &api.Fault{Code: utp.CodeConflict, Message: "the reply token is not that of the question", Retry: true}), nil
	}
	return api.EncodeAnswer(api.ReplyAnswer{Question: 2, Resolution: op}, nil), nil
}

func (k *kernel) sessions(raw []byte) ([]byte, error) {
	var q api.SessionsRequest
	if err := json.Unmarshal(raw, &q); err != nil {
		return nil, err
	}
	if q.After != "" {
		return api.EncodeAnswer([]api.SessionRow{}, nil), nil
	}
	row := api.SessionRow{Session: "sess_1", Turn: "turn_1", Agent: "tidy", Owner: "ada", Last: 7, Ended: true}
	if q.Session != "" {
		row.End = &api.SessionEnd{Status: utp.StatusPartial}
	}
	return api.EncodeAnswer([]api.SessionRow{row}, nil), nil
}

func (k *kernel) events(raw []byte) ([]byte, error) {
	var q api.EventsRequest
	if err := json.Unmarshal(raw, &q); err != nil {
		return nil, err
	}
	a := api.EventsAnswer{Ended: true}
	for seq := q.After + 1; seq <= min(q.After+3, 7); seq++ {
		a.Events = append(a.Events, api.EventRow{Seq: seq, Body: jsontext.Value(fmt.Sprintf(`{"n":%d}`, seq))})
	}
	a.More = q.After+3 < 7
	return api.EncodeAnswer(a, nil), nil
}

func (k *kernel) Broadcasts(context.Context, string, func([]byte)) (func(), error) {
	return func() {}, nil
}

func (k *kernel) last() string { return k.asked[len(k.asked)-1] }

func ada() Principal {
	return Principal{Name: "ada", Roles: []access.Role{access.Listener, access.Approver}, Surface: "page"}
}

// TestOver: the hub's words become the server's, whole and in order.
func TestOver(t *testing.T) {
	t.Parallel()
	k := &kernel{}
	h := FromHub(hub.New(k, 0))
	listed, err := h.Sessions(t.Context(), ada(), ListOptions{Limit: 50})
	sessions := listed.Sessions
	if err != nil || len(sessions) != 1 || listed.More || sessions[0].ID != "sess_1" || sessions[0].Last != 7 || !sessions[0].Ended {
		t.Errorf("%+v %v", sessions, err)
	}
	if one, err := h.Session(t.Context(), ada(), "sess_1"); err != nil || one.ID != "sess_1" || one.End == nil || one.End.Status != utp.StatusPartial {
		t.Errorf("%+v %v", one, err)
	}
	var seqs []int64
	for row, err := range h.Events(t.Context(), ada(), "sess_1", 1, "") {
		if err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, row.Seq)
	}
	if fmt.Sprint(seqs) != "[2 3 4 5 6 7]" {
		t.Errorf("events %v", seqs)
	}
	page, err := h.Questions(t.Context(), ada(), QuestionListOptions{})
	questions := page.Questions
	if err != nil || len(questions) != 2 || string(questions[0].Event) != `{"here":true}` || string(questions[1].Event) != `{"n":5}` {
		t.Errorf("%+v %v", questions, err)
	}
	auditor := Principal{Name: "aud", Roles: []access.Role{access.Auditor}}
	if newest, err := h.Newest(t.Context(), auditor); err != nil || newest != "evt_7" {
		t.Errorf("newest %q %v", newest, err)
	}
	if data, size, err := h.Arguments(t.Context(), ada(), api.ArgumentsRequest{Question: 2}); err != nil || string(data) != "{}" || size != 2 {
		t.Errorf("%s %d %v", data, size, err)
	}
	if started, err := h.Enqueue(t.Context(), ada(), api.TurnStart{Agent: "tidy", Args: jsontext.Value(`{}`), Answer: 9, Key: "k1"}); err != nil || started.Session != "sess_1" {
		t.Errorf("%+v %v", started, err)
	}
	if !strings.Contains(k.last(), `"owner":"ada"`) || !strings.Contains(k.last(), `"answer_seconds":9`) || !strings.Contains(k.last(), `"idempotency_key":"k1"`) {
		t.Errorf("asked %s", k.last())
	}
	whole := api.TurnStart{Agent: "tidy", Correlation: "c1", Parent: "turn_1", Deadline: 60, Boxes: api.Boxes{Profile: "p", ContextBox: "in", OutputBox: "out"}}
	if _, err := h.Enqueue(t.Context(), ada(), whole); err != nil {
		t.Error(err)
	}
	for _, member := range []string{
		`"correlation_id":"c1"`, `"parent_turn_id":"turn_1"`, `"deadline_seconds":60`, `"profile":"p"`, `"context_box_id":"in"`, `"output_box_id":"out"`,
	} {
		if !strings.Contains(k.last(), member) {
			t.Errorf("asked %s without %s", k.last(), member)
		}
	}
}

// TestOverWords: each word is the kernel's own, under the person's name, with the number and
// the token that it came with.
func TestOverWords(t *testing.T) {
	t.Parallel()
	k := &kernel{}
	h := FromHub(hub.New(k, 0))
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		word Reply
		op   string
		has  []string
	}{
		{Reply{Verb: VerbAnswer, Question: 2, Token: "rpl_2", Decision: "accept", At: at}, api.OpAnswer, []string{`"question":2`, `"reply_token":"rpl_2"`, `"decision":"accept"`, `"by":"ada"`, `"surface":"page"`}},
		{Reply{Verb: VerbAnswer, Question: 2, Response: api.Response{Text: "leave"}, At: at}, api.OpAnswer, []string{`"question":2`, `"response":"leave"`}},
		{Reply{Verb: VerbAnswer, Question: 2, Response: api.Response{Text: "true", Type: api.ResponseBool}, At: at}, api.OpAnswer, []string{`"response":"true"`, `"response_type":"bool"`}},
		{Reply{Verb: VerbExtend, Question: 2, At: at}, api.OpExtend, []string{`"question":2`}},
		{Reply{Verb: VerbUndo, Question: 2, At: at}, api.OpUndo, []string{`"question":2`}},
		{Reply{Verb: VerbStop, Session: "sess_1", At: at}, api.OpStop, []string{`"session_id":"sess_1"`}},
	} {
		answer, err := h.Reply(t.Context(), ada(), tt.word)
		if err != nil || answer.Resolution != tt.op || !strings.HasPrefix(k.last(), tt.op+" ") {
			t.Errorf("%s: %+v %v, asked %s", tt.word.Verb, answer, err, k.last())
		}
		for _, part := range tt.has {
			if !strings.Contains(k.last(), part) {
				t.Errorf("%s: found no %s in %s", tt.word.Verb, part, k.last())
			}
		}
	}
	if _, err := h.Reply(t.Context(), ada(), Reply{Verb: "shout"}); err == nil {
		t.Error("another word is taken")
	}
}

// TestOverMismatch: the number of one question with the token of another is a conflict for every
// word, which no repetition helps.
func TestOverMismatch(t *testing.T) {
	t.Parallel()
	h := FromHub(hub.New(&kernel{}, 0))
	for _, verb := range []Verb{VerbAnswer, VerbExtend, VerbUndo, VerbStop} {
		answer, err := h.Reply(t.Context(), ada(), Reply{Verb: verb, Question: 2, Token: "rpl_3"})
		var isRefusal *Refusal
		if !errors.As(err, &isRefusal) || isRefusal.status() != http.StatusConflict || isRefusal.code() != "conflict" || isRefusal.SafeToRetry() || answer != (api.ReplyAnswer{}) {
			t.Errorf("%s: %+v, %v", verb, answer, err)
		}
	}
}

// TestRefusal: what the hub, the kernel and the rights refuse has a status; what no answer
// came to may be sent again, but for a turn.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err   error
		kind  api.Kind
		retry bool
	}{
		{hub.ErrNotAllowed, api.KindForbidden, false},
		{hub.ErrRevoked, api.KindUnauthenticated, false},
		{hub.ErrNotFound, api.KindNotFound, false},
		{hub.ErrStopping, api.KindUnavailable, true},
		{&api.Fault{Code: utp.CodeNotFound, Message: "no"}, api.KindNotFound, false},
		{&api.Fault{Code: utp.CodeAuthFailed, Message: "no"}, api.KindForbidden, false},
		{&api.Fault{Code: utp.CodeBadRequest, Message: "no"}, api.KindInvalid, false},
		{&api.Fault{Code: utp.CodeTooLarge, Message: "no"}, api.KindTooLarge, false},
		{&api.Fault{Code: utp.CodeDone, Message: "no"}, api.KindConflict, false},
		{&api.Fault{Code: utp.CodeDone, Message: "no", Retry: true}, api.KindConflict, false}, // harmless, and of no use
		{&api.Fault{Code: utp.CodeBusy, Message: "no", Retry: true}, api.KindBusy, true},
		{&api.Fault{Code: utp.CodeStorageError, Message: "no", Retry: true}, api.KindUnavailable, true},
		{fmt.Errorf("asked: %w", access.ErrUnknown), api.KindUnauthenticated, false},
		{context.DeadlineExceeded, api.KindUnavailable, true},
		{errors.New("the wire is cut"), api.KindUnavailable, true},
	} {
		var got *Refusal
		if !errors.As(refusal(tt.err), &got) || got.Kind != tt.kind || got.SafeToRetry() != tt.retry || got.Message == "" || !errors.Is(got, tt.err) {
			t.Errorf("%v: %+v", tt.err, got)
		}
	}
	end := api.Closed{Question: 2, Resolution: "rejected", By: "bob", Surface: "page", At: time.Unix(9, 0)}
	var isRefusal *Refusal
	if !errors.As(refusal(&api.Fault{Code: utp.CodeDone, Closed: &end}), &isRefusal) || *isRefusal.Closed != (api.Closed{Question: 2, Resolution: "rejected", By: "bob", Surface: "page", At: end.At}) {
		t.Errorf("who was first: %+v", isRefusal)
	}
	if !errors.As(refusal(&api.Fault{Code: utp.CodeParked}), &isRefusal) || isRefusal.Kind != api.KindConflict || isRefusal.Hint == "" {
		t.Errorf("parked: %+v", isRefusal)
	}
	if refusal(nil) != nil || !errors.Is(refusal(context.Canceled), context.Canceled) {
		t.Error("nothing has become something")
	}
}

// TestUnstarted: a turn that may have begun is not safe to send again, unless it has a key.
func TestUnstarted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fail  error
		kind  api.Kind
		keyed api.Kind
	}{
		"no answer":               {errors.New("the wire is cut"), api.KindUncertain, api.KindUnavailable},
		"perhaps written":         {&api.Fault{Code: utp.CodeStorageError, Message: "no"}, api.KindUncertain, api.KindUnavailable},
		"certainly not":           {&api.Fault{Code: utp.CodeStorageError, Message: "no", Retry: true}, api.KindUnavailable, api.KindUnavailable},
		"too many":                {&api.Fault{Code: utp.CodeTooManyTurns, Message: "no", Retry: true}, api.KindBusy, api.KindBusy},
		"the key of another":      {&api.Fault{Code: utp.CodeConflict, Message: "no", Retry: true}, api.KindConflict, api.KindConflict},
		"a request that is wrong": {&api.Fault{Code: utp.CodeBadRequest, Message: "no", Retry: true}, api.KindInvalid, api.KindInvalid},
	} {
		h := FromHub(hub.New(&kernel{fail: tt.fail}, 0))
		for key, want := range map[string]api.Kind{"": tt.kind, "k1": tt.keyed} {
			_, err := h.Enqueue(t.Context(), ada(), api.TurnStart{Agent: "tidy", Key: key})
			var got *Refusal
			if !errors.As(err, &got) || got.Kind != want || got.SafeToRetry() != (want == api.KindUnavailable || want == api.KindBusy) {
				t.Errorf("%s, with the key %q: %+v; want %s", name, key, err, want)
			}
		}
	}
}
