package hub_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/utp"
)

// desk is a kernel that notes what operators ask it for.
type desk struct {
	asked   []string
	answer  any
	refusal error
}

func (d *desk) Request(_ context.Context, op string, request []byte) ([]byte, error) {
	d.asked = append(d.asked, op+" "+string(request))
	if d.answer != nil {
		return api.EncodeAnswer(d.answer, d.refusal), nil
	}
	return api.EncodeAnswer(struct{}{}, d.refusal), nil
}

func (d *desk) Broadcasts(context.Context, string, func([]byte)) (func(), error) {
	return func() {}, nil
}

// TestOperateRights: to look takes an auditor or an operator, to change something an operator
// who may also approve, and an agent or a tool does neither, whatever else it is.
func TestOperateRights(t *testing.T) {
	t.Parallel()
	looks := []string{api.OpSessions, api.OpTurn, api.OpCards, api.OpBoxes, api.OpTools, api.OpDead, api.OpExport, api.OpAudit, api.OpAgents}
	changes := []string{api.OpReview, api.OpAdd, api.OpRemove, api.OpRetry, api.OpErase, api.OpImport, api.OpDefineAgent, api.OpRemoveAgent}
	for _, tt := range []struct {
		name          string
		roles         []access.Role
		look, operate bool
	}{
		{"a listener", []access.Role{access.Listener}, false, false},
		{"an approver", []access.Role{access.Approver}, false, false},
		{"an auditor", []access.Role{access.Auditor}, true, false},
		{"an auditor who approves", []access.Role{access.Auditor, access.Approver}, true, false},
		{"an operator", []access.Role{access.Operator}, true, false},
		{"a program of the user", []access.Role{access.Listener, access.Operator}, true, false},
		{"an operator who approves", []access.Role{access.Operator, access.Approver}, true, true},
		{"an agent", []access.Role{access.Agent}, false, false},
		{"an agent that is an operator", []access.Role{access.Agent, access.Operator, access.Approver}, false, false},
		{"a tool that is an auditor", []access.Role{access.Tool, access.Auditor}, false, false},
		{"nobody", nil, false, false},
	} {
		for op, may := range rightsOf(looks, tt.look, changes, tt.operate) {
			d := &desk{}
			h := hub.Open(hub.Options{Conn: d, Rights: &badges{looked: map[string]int{}}})
			_, err := h.As(person("ann", tt.roles...)).Operate(t.Context(), op, jsontext.Value("{}"))
			if may != (err == nil) || !may && !errors.Is(err, hub.ErrNotAllowed) || may != (len(d.asked) == 1) {
				t.Errorf("%s asks for %s: %v, the kernel was asked for %v", tt.name, op, err, d.asked)
			}
		}
	}
}

func rightsOf(looks []string, peek bool, changes []string, change bool) map[string]bool {
	all := map[string]bool{}
	for _, op := range looks {
		all[op] = peek
	}
	for _, op := range changes {
		all[op] = change
	}
	return all
}

// TestOperateOnlyThese: what people and services ask for does not come in by this door, and a
// retry is for anyone who asks, whatever the request says.
func TestOperateOnlyThese(t *testing.T) {
	t.Parallel()
	d := &desk{}
	h := hub.Open(hub.Options{Conn: d, Rights: &badges{looked: map[string]int{}}})
	all := h.As(person("ann", access.Operator, access.Approver, access.Auditor))
	for _, op := range []string{"", api.OpAnswer, api.OpStart, api.OpFinish, api.OpRegister, api.OpEnqueue, api.OpPrefer, api.OpPresent, "Erase", "erase/x"} {
		if _, err := all.Operate(t.Context(), op, jsontext.Value("{}")); !errors.Is(err, hub.ErrNotFound) {
			t.Errorf("%q: %v", op, err)
		}
	}
	if len(d.asked) != 0 {
		t.Errorf("the kernel was asked for %v", d.asked)
	}
	if _, err := all.Operate(t.Context(), api.OpRetry, jsontext.Value(`{"id":7,"owner":"bob"}`)); err != nil {
		t.Error(err)
	}
	if want := `retry {"id":7,"owner":"ann"}`; len(d.asked) != 1 || d.asked[0] != want {
		t.Errorf("the kernel was asked for %v, want %s", d.asked, want)
	}
}

// TestOperatorsAreNamed: what is changed is changed in the name of who was authenticated, whatever the request says.
func TestOperatorsAreNamed(t *testing.T) {
	t.Parallel()
	for _, op := range []string{api.OpReview, api.OpRemove, api.OpErase, api.OpImport, api.OpDefineAgent, api.OpRemoveAgent} {
		d := &desk{}
		h := hub.Open(hub.Options{Conn: d, Rights: &badges{looked: map[string]int{}}})
		ann := h.As(person("ann", access.Operator, access.Approver))
		for _, request := range []string{`{"x":1}`, `{"x":1,"by":"bob"}`} {
			if _, err := ann.Operate(t.Context(), op, jsontext.Value(request)); err != nil {
				t.Error(err)
			}
		}
		if want := op + ` {"x":1,"by":"ann"}`; !slices.Equal(d.asked, []string{want, want}) {
			t.Errorf("the kernel was asked for %q, want %q", d.asked, want)
		}
		if _, err := ann.Operate(t.Context(), op, jsontext.Value(`[]`)); err == nil {
			t.Errorf("%s of a list was passed on", op)
		}
	}
}

// TestExportIsMasked: an export has the reply tokens of questions for those only who may answer them.
func TestExportIsMasked(t *testing.T) {
	t.Parallel()
	const token = "rpl_0123456789abcdef0123456789abcdef"
	record := func(e api.ExportEvent) jsontext.Value {
		raw, err := json.Marshal(api.Exported{Event: &e})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	part := api.ExportAnswer{Owner: "ann", Cursor: "3:events/2", Records: []jsontext.Value{
		jsontext.Value(`{"turn":{"turn_id":"turn_1"}}`),
		record(api.ExportEvent{Seq: 1, ID: "evt_1", Body: jsontext.Value(`{"type":"x","reply_token":"` + token + `"}`)}),
		record(api.ExportEvent{Seq: 2, ID: "evt_2", Body: jsontext.Value(`{"type":"y","extensions":{"earshot":{"reply_token":"` + token + `"}}}`)}),
	}}
	h := hub.Open(hub.Options{Conn: &desk{answer: part}, Rights: &badges{looked: map[string]int{}}})
	for name, row := range map[string]struct {
		who  access.Principal
		bare bool
	}{
		"an auditor":               {person("eve", access.Auditor), false},
		"an operator":              {person("otto", access.Operator), false},
		"an operator who approves": {person("otto", access.Operator, access.Approver), true},
		"the owner, who audits":    {person("ann", access.Approver, access.Auditor), true},
		"another's approver":       {person("bob", access.Approver, access.Auditor), false},
	} {
		raw, err := h.As(row.who).Operate(t.Context(), api.OpExport, jsontext.Value("{}"))
		var got api.ExportAnswer
		if err != nil || json.Unmarshal(raw, &got) != nil || len(got.Records) != 3 || got.Cursor != part.Cursor || !strings.Contains(string(got.Records[0]), "turn_1") {
			t.Errorf("%s: %s, %v", name, raw, err)
			continue
		}
		if n := strings.Count(string(raw), token); n != map[bool]int{true: 2, false: 0}[row.bare] || strings.Count(string(raw), `"rpl_`) != 2 {
			t.Errorf("%s gets the token %d times: %s", name, n, raw)
		}
	}
}

// TestOperateDamaged: who looks at what cannot be read is told so soon, and not after the time
// of a whole request; what passes by itself is waited for.
func TestOperateDamaged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, retry := range map[string]bool{"damaged": false, "others hold it": true} {
			d := &desk{refusal: &api.Fault{Code: utp.CodeStorageError, Retry: retry}}
			h := hub.Open(hub.Options{Conn: d, Rights: &badges{looked: map[string]int{}}})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			began := time.Now()
			_, err := h.As(person("ann", access.Auditor)).Operate(ctx, api.OpTurn, jsontext.Value("{}"))
			cancel()
			if took := time.Since(began); err == nil || (took > 5*time.Second) != retry {
				t.Errorf("%s: %v after %v", name, err, took)
			}
		}
	})
}
