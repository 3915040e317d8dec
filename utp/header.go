package utp

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The headers, in the exact case that peers look for: they ignore any other case. Set them as map keys, because the
// usual Set functions change the case.
const (
	HeaderProjectID         = "CG-Project-Id"
	HeaderChannelID         = "CG-Channel-Id"
	HeaderAgentID           = "CG-Agent-Id"
	HeaderTurnID            = "CG-Turn-Id"
	HeaderTurnEpoch         = "CG-Turn-Epoch"
	HeaderStepID            = "CG-Step-Id"
	HeaderToolCallID        = "CG-Tool-Call-Id"
	HeaderParentAgentID     = "CG-Parent-Agent-Id"
	HeaderParentTurnID      = "CG-Parent-Turn-Id"
	HeaderParentStepID      = "CG-Parent-Step-Id"
	HeaderRecursionDepth    = "CG-Recursion-Depth"
	HeaderTraceparent       = "traceparent"
	HeaderTracestate        = "tracestate"
	HeaderParentTraceparent = "CG-Parent-Traceparent"
	HeaderTimestamp         = "CG-Timestamp"
	HeaderVersion           = "CG-Version"
	HeaderMsgType           = "CG-Msg-Type"
	HeaderSender            = "CG-Sender"
)

const (
	defaultMsgType = "dict" // what every known peer sends
	defaultSender  = "earshot"
	maxHeader      = 1024
)

// HeaderError describes which header is wrong.
type HeaderError struct {
	Name     string
	Found    string
	Expected string
}

func (e *HeaderError) Error() string {
	return "header " + e.Name + " is " + e.Found + "; expected " + e.Expected
}

// Code is bad_request.
func (*HeaderError) Code() Code { return CodeBadRequest }

// Stamp is what a publisher adds to a context.
type Stamp struct {
	// At becomes CG-Timestamp, in milliseconds of the epoch. Required.
	At time.Time
	// MsgType is "dict" when empty, as peers send it.
	MsgType string
	// Sender names the publishing program; "earshot" when empty.
	Sender string
}

// textHeaders are the headers whose value is not converted.
var textHeaders = []struct {
	name string
	of   func(*Context) *string
}{
	{HeaderProjectID, func(c *Context) *string { return &c.ProjectID }},
	{HeaderChannelID, func(c *Context) *string { return &c.ChannelID }},
	{HeaderAgentID, func(c *Context) *string { return &c.AgentID }},
	{HeaderTurnID, func(c *Context) *string { return &c.TurnID }},
	{HeaderStepID, func(c *Context) *string { return &c.StepID }},
	{HeaderToolCallID, func(c *Context) *string { return &c.ToolCallID }},
	{HeaderParentAgentID, func(c *Context) *string { return &c.ParentAgentID }},
	{HeaderParentTurnID, func(c *Context) *string { return &c.ParentTurnID }},
	{HeaderParentStepID, func(c *Context) *string { return &c.ParentStepID }},
	{HeaderTraceparent, func(c *Context) *string { return &c.Traceparent }},
	{HeaderTracestate, func(c *Context) *string { return &c.Tracestate }},
	{HeaderParentTraceparent, func(c *Context) *string { return &c.ParentTraceparent }},
}

// EncodeHeader writes a context and a stamp as headers with the exact case of their names. Absent fields are omitted,
// except the depth, which is always written. The error is a [*HeaderError]. The map can be assigned to a nats.Header.
func EncodeHeader(c Context, s Stamp) (map[string][]string, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if s.At.IsZero() {
		return nil, &HeaderError{Name: HeaderTimestamp, Found: "nothing", Expected: "the time of publishing"}
	}
	if c.DepthAbsent {
		return nil, &HeaderError{Name: HeaderRecursionDepth, Found: "nothing", Expected: "the depth of the request edge"}
	}
	out := c.headers()
	for name, value := range map[string]string{
		HeaderTimestamp: strconv.FormatInt(s.At.UnixMilli(), 10),
		HeaderVersion:   Version,
		HeaderMsgType:   orDefault(s.MsgType, defaultMsgType),
		HeaderSender:    orDefault(s.Sender, defaultSender),
	} {
		out[name] = []string{value}
	}
	for _, name := range []string{HeaderMsgType, HeaderSender} {
		if v := out[name][0]; !validID(v) {
			return nil, &HeaderError{Name: name, Found: Shown(v), Expected: idRule}
		}
	}
	return out, nil
}

// EncodeWakeup writes the headers of a wakeup or of an agent's event: whose it is, without the fields of a single call,
// which neither has (UTP, "Headers"). The agent is required, because a worker drops a wakeup without one. The error is
// a [*HeaderError].
func EncodeWakeup(c Context, s Stamp) (map[string][]string, error) {
	if c.AgentID == "" {
		return nil, &HeaderError{Name: HeaderAgentID, Found: "nothing", Expected: "the agent that is woken"}
	}
	c.StepID, c.ToolCallID, c.ParentAgentID, c.ParentTurnID, c.ParentStepID = "", "", "", "", ""
	c.RecursionDepth, c.DepthAbsent = 0, false
	out, err := EncodeHeader(c, s)
	delete(out, HeaderRecursionDepth)
	return out, err
}

// headers returns the headers of the context itself.
func (c Context) headers() map[string][]string {
	out := map[string][]string{HeaderRecursionDepth: {strconv.Itoa(c.RecursionDepth)}}
	if c.TurnEpoch > 0 {
		out[HeaderTurnEpoch] = []string{strconv.Itoa(c.TurnEpoch)}
	}
	for _, h := range textHeaders {
		if v := *h.of(&c); v != "" {
			out[h.name] = []string{lowerTrace(h.name, v)}
		}
	}
	return out
}

// DecodeHeader reads the context of a message. Names are matched without regard to case, and unknown names are ignored.
// The same header with two different values, in one spelling or in two, is refused (U-11), and so is another
// CG-Version. The error is a [*HeaderError].
func DecodeHeader(header map[string][]string) (Context, error) {
	values, err := gather(header)
	if err != nil {
		return Context{}, err
	}
	if v, ok := values[strings.ToLower(HeaderVersion)]; ok && v != Version {
		return Context{}, &HeaderError{Name: HeaderVersion, Found: Shown(v), Expected: Version}
	}
	var c Context
	for _, h := range textHeaders {
		*h.of(&c) = lowerTrace(h.name, values[strings.ToLower(h.name)])
	}
	if c.TurnEpoch, _, err = count(values, HeaderTurnEpoch); err != nil {
		return Context{}, err
	}
	var present bool
	if c.RecursionDepth, present, err = count(values, HeaderRecursionDepth); err != nil {
		return Context{}, err
	}
	c.DepthAbsent = !present
	if err := c.check(); err != nil {
		return Context{}, err
	}
	return c, nil
}

// gather collects the headers by lower-case name, without empty values. It visits names in order, so that the same one
// of several errors is always reported.
func gather(header map[string][]string) (map[string]string, error) {
	known := map[string]string{}
	for _, name := range []string{HeaderTurnEpoch, HeaderRecursionDepth, HeaderVersion} {
		known[strings.ToLower(name)] = name
	}
	for _, h := range textHeaders {
		known[strings.ToLower(h.name)] = h.name
	}
	values := map[string]string{}
	for _, spelling := range slices.Sorted(maps.Keys(header)) {
		lower := strings.ToLower(spelling)
		name, ok := known[lower]
		if !ok {
			continue
		}
		for _, v := range header[spelling] {
			v = strings.TrimSpace(v)
			if before, twice := values[lower]; twice && before != v && v != "" {
				return nil, &HeaderError{Name: name, Found: Shown(before) + " and also " + Shown(v), Expected: "one value"}
			}
			if v != "" {
				values[lower] = v
			}
		}
	}
	return values, nil
}

// count reads a header that is an integer of at least 0.
func count(values map[string]string, name string) (n int, present bool, err error) {
	text, ok := values[strings.ToLower(name)]
	if !ok {
		return 0, false, nil
	}
	n, err = parseCount(text)
	if err != nil {
		return 0, false, &HeaderError{Name: name, Found: Shown(text), Expected: "a whole number of at least 0"}
	}
	return n, true, nil
}

// parseCount reads decimal digits only: no sign, no space, at most 2³¹-1.
func parseCount(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, err //nolint:wrapcheck // the caller replaces it by what it knows of the place
	}
	return int(n), nil
}

// check validates the fields that are set.
func (c Context) check() error {
	for _, h := range textHeaders {
		v := *h.of(&c)
		if v == "" {
			continue
		}
		if err := checkHeader(h.name, v); err != nil {
			return err
		}
	}
	if c.TurnEpoch < 0 {
		return &HeaderError{Name: HeaderTurnEpoch, Found: strconv.Itoa(c.TurnEpoch), Expected: "at least 1, or 0 for none"}
	}
	if c.RecursionDepth < 0 {
		return &HeaderError{Name: HeaderRecursionDepth, Found: strconv.Itoa(c.RecursionDepth), Expected: "at least 0"}
	}
	return nil
}

func checkHeader(name, value string) error {
	switch name {
	case HeaderProjectID, HeaderChannelID:
		if !ValidToken(value) {
			return &HeaderError{Name: name, Found: Shown(value), Expected: alphabetRule}
		}
	case HeaderTraceparent, HeaderParentTraceparent:
		if _, _, err := ParseTraceparent(value); err != nil {
			return &HeaderError{Name: name, Found: Shown(value), Expected: traceparentRule}
		}
	case HeaderTracestate:
		if len(value) > maxHeader || !validText(value) {
			return &HeaderError{Name: name, Found: Shown(value), Expected: "at most 1024 bytes without control characters"}
		}
	default:
		if !validID(value) {
			return &HeaderError{Name: name, Found: Shown(value), Expected: idRule}
		}
	}
	return nil
}

// lowerTrace converts trace headers to lower case, their canonical form.
func lowerTrace(name, value string) string {
	if name == HeaderTraceparent || name == HeaderParentTraceparent {
		return strings.ToLower(value)
	}
	return value
}

func orDefault(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
