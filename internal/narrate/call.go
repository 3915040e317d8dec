package narrate

import (
	"regexp"
	"strings"
	"sync"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/outline"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Members of extensions.earshot and extensions.utp.
const (
	extQuestion  = "question"
	extTool      = "tool"
	extCall      = "tool_call_id"
	extClass     = "class"
	extCode      = "code"
	extStatus    = "status"
	extReason    = "reason"
	extAllFailed = "all_failed"
	extBy        = "by"
	extSurface   = "surface"
	extDeadline  = "deadline"
	// extLeft is how many seconds are left to answer the question.
	extLeft      = "left_seconds"
	extWaiting   = "waiting"
	extUnlimited = "unlimited"
	extItems     = "items"
	extBytes     = "bytes"
	extUndo      = "undo_seconds"
	extHint      = "hint"
	// extPasskey is set if a yes takes a passkey, which is used on the page.
	extPasskey  = "passkey"
	extDetail   = "detail"
	extStartsAt = "starts_at"
	extReplaces = "replaces"
	// extEnforcement is set if a service does not enforce the gate: broker-only or advisory.
	extEnforcement = "enforcement"
	extEarlier     = "earlier"
	extNew         = "unreviewed"
	// extArguments lists the arguments of a question, see [argumentList].
	extArguments = "arguments"
	// extByClass is set if the consequence only repeats the class.
	extByClass = "by_class"
	// extOwnTool is set if the agent asks before it uses a tool of its own: the consequence says that Earshot cannot
	// undo it.
	extOwnTool = "own_tool"
	// extObserved is set if the agent itself reports what it has done, or its state.
	extObserved = "observed"
	// extDoing is set if the agent reports what it is doing.
	extDoing = "doing"
	// extMissed is how many messages of the agent have got lost.
	extMissed = "missed"
	// extAgentLanguage is the language of the agent's own words in the event: those between quotation marks, and the labels
	// of choices.
	extAgentLanguage = "agent_language"
	// extSession is the session's name, extRequest its request, in questions that mention them.
	extSession = "session_name"
	// extParent is the session that the turn is a part of.
	extParent  = "parent_session_id"
	extRequest = "request"
)

// Names of parameters and fields that occur more than once.
const (
	paramQuestion = "question"
	paramAction   = "action"

	fieldAction      = "action"
	fieldConsequence = "consequence"
	fieldDescription = "description"
	fieldArgs        = "args_summary"
	fieldError       = "error_message"
	fieldQuestion    = "question"
	fieldContext     = "context"
	fieldReason      = "reason"
	fieldHint        = "remediation_hint"
	fieldOutput      = "output_summary"
	fieldPartial     = "partial_result"
	fieldLeave       = "choice.leave"
	fieldAgain       = "choice.ask again"
)

var notInTool = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[^A-Za-z0-9_.-]`)
})

// callID returns the tool_call_id of a call: tc_<h> becomes call_<h>, anything else is hashed.
func callID(id string) string {
	if tail, is := strings.CutPrefix(id, "tc_"); is && aaep.PatternCallID.Match(aaep.PrefixCall+tail) {
		return aaep.PrefixCall + tail
	}
	return aaep.ExternalCallID(id)
}

// toolName returns a tool's name in the form that events allow (C-26).
func toolName(name string) string {
	const most = 256
	name = notInTool().ReplaceAllString(name, "_")
	if name == "" || !strings.ContainsAny(name[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_") {
		name = "_" + name
	}
	return name[:min(len(name), most)]
}

// irreversible reports whether a class counts as irreversible, as unknown ones do.
func irreversible(c utp.Class) bool { return c.Order() == utp.Irreversible.Order() }

func risk(r utp.Risk) aaep.Risk {
	switch r.Order() {
	case utp.RiskLow.Order():
		return aaep.RiskLow
	case utp.RiskMedium.Order():
		return aaep.RiskMedium
	}
	return aaep.RiskHigh
}

// wording returns the wording of the call's tool; none if the tool was redefined since the call was judged, because its
// facts may differ.
func (s *eventBuilder) wording() Wording {
	if d := s.t.Call.Definition; d != "" && s.t.Tool.Digest != "" && d != s.t.Tool.Digest {
		return Wording{}
	}
	return wording(s.t.Tool.Definition)
}

// about returns the parameters that every message about a call may use.
func (s *eventBuilder) about() Params {
	class := s.t.Call.Class
	if !class.Valid() {
		class = utp.Irreversible
	}
	if s.t.Call.Batch != nil {
		class = delegated
	}
	p := Params{
		"tool": identifier(s.t.Call.Tool), "class": keyword(string(class)),
		"effect": yes(s.t.Call.Class.Effectful()),
	}
	if n := s.number(); n > 0 {
		p[paramQuestion] = count(int64(n))
	}
	return p
}

// aboutCall returns the extension members that tie an event to its call.
func (s *eventBuilder) aboutCall() map[string]any {
	return map[string]any{extTool: toolName(s.t.Call.Tool), extCall: callID(s.t.Call.ID)}
}

// toolText returns a text of the tool's definition with its facts, if it can be rendered. The text of an unreviewed
// tool is quoted.
func (s *eventBuilder) toolText(text string, facts Params) (Param, bool) {
	if text == "" {
		return Param{}, false
	}
	p := Param{Verbatim: text, Params: facts}
	said, err := s.narrator.speaker.renderParam(p)
	if err != nil || strings.TrimSpace(said) == "" {
		return Param{}, false
	}
	if !s.t.Tool.Reviewed {
		return quoted(stripIsolates(said)), true
	}
	return p, true
}

func stripIsolates(s string) string {
	return isolates.Replace(s)
}

// action describes the call in a sentence: the tool's own if an operator has reviewed it, otherwise one that names the
// tool and its arguments.
func (s *eventBuilder) action(args outline.Outline) (Param, Params) {
	if s.isPermission() {
		return s.permissionAction(args), nil
	}
	w := s.wording()
	facts := find(w.Consent.Facts, s.t.Args)
	claim, ok := s.toolText(w.Consent.Action, facts)
	if ok && s.t.Tool.Reviewed {
		return claim, facts
	}
	p := Params{"tool": identifier(s.t.Call.Tool)}
	if said := values(args, maxSpokenValues); len(said.All) > 0 || said.Left > 0 {
		p["args"] = said
	}
	about := s.t.Tool.Definition.Description
	if s.t.Tool.Reviewed {
		if about != "" {
			p["about"] = describe(about, capValue)
		}
		return phraseParam("action.generic", p), facts
	}
	p["service"] = identifier(s.t.Call.Target)
	switch {
	case ok:
		p["claim"] = claim
	case about != "":
		p["claim"] = quotedTo(about, capValue)
	}
	return phraseParam("action.unreviewed", p), facts
}

// consequence describes the consequence of the call by the tool's own words, otherwise by its class, which only says
// whether it can be undone.
func (s *eventBuilder) consequence(facts Params) (said Param, own bool) {
	if s.isPermission() {
		return phraseParam("consequence.permission", Params{"agent": s.agent()}), true
	}
	if !s.t.Tool.Reviewed {
		return phraseParam("consequence.unreviewed", nil), false
	}
	if own, ok := s.toolText(s.wording().Consent.Consequence, facts); ok {
		return own, true
	}
	class := s.t.Call.Class
	if !class.Valid() {
		class = utp.Irreversible
	}
	return phraseParam("consequence."+string(class), nil), false
}

// doing describes the call when it starts.
func (s *eventBuilder) doing() Param {
	w := s.wording()
	facts := find(w.Consent.Facts, s.t.Args).with(find(w.Doing.Facts, s.t.Args))
	if own, ok := s.toolText(w.Doing.Text, facts); ok {
		return own
	}
	if action, ok := s.toolText(w.Consent.Action, facts); ok && s.t.Tool.Reviewed {
		return phraseParam("call.now", Params{paramAction: action})
	}
	return Param{}
}

// result describes the call's result by the tool's own words for that status; none if there are none.
func (s *eventBuilder) result(status utp.Status) Param {
	if b := s.t.Call.Batch; b != nil {
		return joined(*b, status)
	}
	w := s.wording().Result
	text := ""
	switch status {
	case utp.StatusSuccess:
		text = w.Success
	case utp.StatusPartial:
		text = w.Partial
	case utp.StatusFailed, utp.StatusTimeout, utp.StatusCanceled:
		text = w.Failed
	}
	own, _ := s.toolText(text, find(w.Facts, s.t.Result))
	return own
}

// outcome returns how the call ended.
func (s *eventBuilder) outcome() turn.Outcome {
	if s.t.Call.Outcome != nil {
		return *s.t.Call.Outcome
	}
	return turn.Outcome{Status: utp.StatusFailed, Code: utp.Code(s.t.Note.Detail)}
}

func (s *eventBuilder) by() string {
	if s.t.Note.By != "" {
		return s.t.Note.By
	}
	return s.t.By
}

func (s *eventBuilder) surface() string {
	if s.t.Note.By != "" {
		return s.t.Note.Surface
	}
	return s.t.Surface
}

// who returns a name that may be missing.
func who(name string) Param {
	if name == "" {
		return Param{}
	}
	return identifier(name)
}
