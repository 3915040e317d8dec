package utp

// SuffixProgress ends the subject of an event that says how far a call is, with a
// [ToolProgress]. The other event of a tool ends in [SuffixCancel], with a [ToolCancel].
const SuffixProgress = "progress"

// ToolProgress says how far a call is, without any content of it. It is told when the
// service's heartbeat has been taken, at most a few times a second, and may be lost.
type ToolProgress struct {
	Call string `json:"tool_call_id"`
	Turn string `json:"agent_turn_id"`
	Tool string `json:"tool_name"`
	// Fraction is from 0 to 1.
	Fraction float64 `json:"fraction"`
}

// ToolCancel tells the service that has the call to end it, and say what it has done.
type ToolCancel struct {
	Call string `json:"tool_call_id"`
	Turn string `json:"agent_turn_id"`
	// Reason is what the person gave as one, if they did.
	Reason string `json:"reason,omitzero"`
}

// ToolEvent is the subject of an event about the calls of a tool service. The error is a
// [*SubjectError].
func ToolEvent(project, channel, target, suffix string) (Subject, error) {
	return checkedTool(Subject{
		Version: Version, Project: project, Channel: channel,
		Category: CategoryEvent, Component: ComponentTool, Target: target, Suffix: suffix,
	})
}

// The suffixes of the two notices that the kernel sends to a service, with the call in
// [HeaderToolCallID]: to end a running call, as an event of the tool (see [ToolEvent]),
// and to find out what became of a lapsed one, on its command subject.
const (
	SuffixCancel    = "cancel"
	SuffixReconcile = "reconcile"
)
