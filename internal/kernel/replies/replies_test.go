package replies_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/replies"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit/ledgertest"
	"github.com/earshot-dev/earshot/utp"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// record is a turn with question 1, which has been asked again under another token, and question 2.
func record() *store.Record {
	return &store.Record{
		State: turn.State{Turn: "turn_00000000000000000000000000000001", Session: "sess_00000000000000000000000000000001", Project: "default", Channel: "public", Agent: "tidy", Owner: "ada", Status: turn.Running},
		Questions: []consent.Question{
			{Number: 1, Token: "rpl_1b", SpentTokens: []string{"rpl_1a"}, State: consent.Open, Kind: consent.Confirmation},
			{Number: 2, Token: "rpl_2", State: consent.Open, Kind: consent.Confirmation},
		},
	}
}

// TestNamed: a reply is about the question of its token, or of its number where it has no token; never about one of two
// that it names at once.
func TestNamed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		reply api.ReplyRequest
		want  int
	}{
		{"by number", api.ReplyRequest{Question: 2}, 2},
		{"by token", api.ReplyRequest{Token: "rpl_1b"}, 1},
		{"by both", api.ReplyRequest{Token: "rpl_2", Question: 2}, 2},
		{"by the token of one and the number of another", api.ReplyRequest{Token: "rpl_2", Question: 1}, 0},
		{"by a spent token", api.ReplyRequest{Token: "rpl_1a"}, 0},
		{"accept by a spent token and its number", api.ReplyRequest{Token: "rpl_1a", Question: 1, Decision: "accept"}, 0},
		{"reject by a spent token and its number", api.ReplyRequest{Token: "rpl_1a", Question: 1, Decision: "reject"}, 1},
		{"by nothing", api.ReplyRequest{}, 0},
	} {
		rec := record()
		found := 0
		if q := replies.Named(rec, replies.NoByNumber(rec, test.reply)); q != nil {
			found = q.Number
		}
		if found != test.want {
			t.Errorf("%s: found question %d, expected %d", test.name, found, test.want)
		}
	}
}

// TestUnnamed: who names no live question is told why, if it concerns them; anybody else learns nothing from it.
func TestUnnamed(t *testing.T) {
	t.Parallel()
	ledger := ledgertest.Open(t)
	for _, test := range []struct {
		name      string
		reply     api.ReplyRequest
		concerned bool
		code      utp.Code
		says      string
	}{
		{"no such number", api.ReplyRequest{Question: 9}, true, utp.CodeNotFound, "no open question has that number"},
		{"no such token", api.ReplyRequest{Token: "rpl_9"}, true, utp.CodeNotFound, "no open question has that reply token"},
		{"a spent token", api.ReplyRequest{Token: "rpl_1a"}, true, utp.CodeDone, "question 1 has been asked again since"},
		{"a spent token, of somebody else's question", api.ReplyRequest{Token: "rpl_1a"}, false, utp.CodeNotFound, "no open question"},
		{"a token and another's number", api.ReplyRequest{Token: "rpl_2", Question: 1}, true, utp.CodeConflict, "does not belong to question 1"},
		{"the same, of somebody else's question", api.ReplyRequest{Token: "rpl_2", Question: 1}, false, utp.CodeNotFound, "no open question"},
	} {
		err := ledger.View(t.Context(), func(tx store.Tx) error { return replies.Unnamed(tx, record(), test.reply, test.concerned) })
		fault, is := errors.AsType[*api.Fault](err)
		if !is || fault.Code != test.code || !strings.Contains(fault.Message, test.says) {
			t.Errorf("%s: found %v, expected %s with %q", test.name, err, test.code, test.says)
		}
	}
}

// TestNotAccepted: a person whose answer did not count is told why, and what can be done.
func TestNotAccepted(t *testing.T) {
	t.Parallel()
	open := consent.Question{Number: 3, State: consent.Open, Kind: consent.Confirmation, AllowedReplies: []consent.Decision{consent.Accept, consent.Reject}}
	accepted := open
	accepted.State = consent.Accepted
	accepted.Resolution = consent.Resolution{How: consent.ByReply, At: at, By: "ada", Surface: "page"}
	for _, test := range []struct {
		name string
		q    consent.Question
		why  consent.Reason
		code utp.Code
		says string
	}{
		{"another has answered", accepted, "", utp.CodeDone, `question 3 was accepted by "ada" at "page" at 12:00:00 UTC; this came after it and did not count`},
		{"too late", open, consent.TooLate, utp.CodeDone, "too late: the time to answer question 3 ended at"},
		{"asked again", open, consent.NoToken, utp.CodeConflict, "question 3 has been asked again since it was answered"},
		{"no more time", open, consent.NoMoreTime, utp.CodeConflict, "no more time can be given: question 3 stays open"},
		{"not an answer to it", open, "", utp.CodeBadRequest, "question 3 is still open; it expects accept or reject; nothing was recorded"},
	} {
		fault, is := errors.AsType[*api.Fault](replies.NotAccepted(test.q, test.why))
		if !is || fault.Code != test.code || !strings.HasPrefix(fault.Message, test.says) {
			t.Errorf("%s: found %v, expected %s with %q", test.name, fault, test.code, test.says)
		}
	}
}

// TestRead: words are read as the kind of answer that was asked for, and a typed answer as what it is.
func TestRead(t *testing.T) {
	t.Parallel()
	choices := []consent.Choice{{Value: "red"}, {Value: "12"}}
	for _, test := range []struct {
		kinds []consent.ResponseKind
		reply api.ReplyRequest
		want  consent.Response
	}{
		{[]consent.ResponseKind{consent.YesNo}, api.ReplyRequest{Response: "no"}, consent.BoolResponse(false)},
		{[]consent.ResponseKind{consent.Numeric}, api.ReplyRequest{Response: "12"}, consent.NumberResponse(12)},
		{[]consent.ResponseKind{consent.MultipleChoice, consent.Numeric}, api.ReplyRequest{Response: "12"}, consent.TextResponse("12")},
		{[]consent.ResponseKind{consent.FreeText}, api.ReplyRequest{Response: "yes"}, consent.TextResponse("yes")},
		{[]consent.ResponseKind{consent.FreeText}, api.ReplyRequest{Response: "yes", ResponseType: api.ResponseBool}, consent.BoolResponse(true)},
		{[]consent.ResponseKind{consent.YesNo}, api.ReplyRequest{Response: "yes", ResponseType: api.ResponseText}, consent.TextResponse("yes")},
	} {
		q := consent.Question{Number: 1, Kind: consent.Clarification, ResponseKinds: test.kinds, Choices: choices}
		r := replies.Read(q, "ada", test.reply, turn.Timestamp{Wall: at})
		if r.Response != test.want || r.Principal != "ada" || !r.Timestamp.Equal(at) {
			t.Errorf("%v, %+v: found %+v of %q", test.kinds, test.reply, r.Response, r.Principal)
		}
	}
}
