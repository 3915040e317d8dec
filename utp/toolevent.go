package utp

// SuffixProgress ends the subject of an event with a call's progress, a [ToolProgress]. A tool's other event ends in
// [SuffixCancel] and carries a [ToolCancel].
const SuffixProgress = "progress"

// ToolProgress is the progress of a call, without content. It is sent when the kernel accepts the service's heartbeat,
// at most a few times a second, and may be lost.
type ToolProgress struct {
	Call string `json:"tool_call_id"`
	Turn string `json:"agent_turn_id"`
	Tool string `json:"tool_name"`
	// Fraction is from 0 to 1.
	Fraction float64 `json:"fraction"`
}

// ToolCancel asks the service that runs the call to end it and report what it has done.
type ToolCancel struct {
	Call string `json:"tool_call_id"`
	Turn string `json:"agent_turn_id"`
	// Reason is the person's reason, if they gave one.
	Reason string `json:"reason,omitzero"`
}

// ToolEvent returns the subject of an event about the calls of a tool service. The error is a [*SubjectError].
func ToolEvent(project, channel, target, suffix string) (Subject, error) {
	return checkedTool(Subject{
		Version: Version, Project: project, Channel: channel,
		Category: CategoryEvent, Component: ComponentTool, Target: target, Suffix: suffix,
	})
}

// The suffixes of the two notices that the kernel sends to a service, with the call in [HeaderToolCallID]: to end a
// running call, as an event of the tool (see [ToolEvent]), and to find out the outcome of a call whose lease has
// expired, on its command subject.
const (
	SuffixCancel    = "cancel"
	SuffixReconcile = "reconcile"
)
