package utp

import "slices"

// Code is the reason why something did not succeed. The set is open, because a tool may send its own codes. The zero
// properties of an unknown code are therefore the cautious ones.
type Code string

// The codes of the gate: outcomes of a call that the kernel itself decides (call protocol, "States"). None of these
// calls was started, except those with CodeStopped, which may have been, and CodeOutcomeUnknown, which certainly were.
const (
	CodeConsentDeclined  Code = "consent_declined"  // the person declined
	CodeConsentExpired   Code = "consent_expired"   // nobody answered in time
	CodeConsentWithdrawn Code = "consent_withdrawn" // the question was withdrawn before an answer
	CodeConsentStale     Code = "consent_stale"     // the consent is too old, or something has changed since
	CodeStopped          Code = "stopped"           // a person or an operator stopped the turn or the call
	CodeDeniedByPolicy   Code = "denied_by_policy"  // the policy forbids the call, or was changed to forbid it before it began
	CodeOutcomeUnknown   Code = "outcome_unknown"   // the call was started, and its effect is unknown
	// CodeConsentRetryExhausted: the consent went stale several times in a row, and the person is not asked again.
	CodeConsentRetryExhausted Code = "consent_retry_exhausted"
)

// The codes of refused kernel operations.
const (
	CodeBusy        Code = "busy"         // another owner has started the call
	CodeDone        Code = "done"         // it has already ended or been answered
	CodeStale       Code = "stale"        // the request has an older epoch or fence, or came after the time to start
	CodeUnknownCall Code = "unknown_call" // the ledger has no such call
	CodeUnknownTool Code = "unknown_tool" // the registry has no such tool
	CodeTooLarge    Code = "too_large"    // larger than a size limit allows
	CodeTurnEnded   Code = "turn_ended"   // the turn has already ended
	CodeParked      Code = "parked"       // the turn is not active here, so no part of it could be started
	// CodeAgentInactive: the agent may not work, as an operator has defined it.
	CodeAgentInactive Code = "agent_inactive"
	// CodeMustEndWith: the turn ended without a call that its agent has to end with, as an operator has defined it.
	CodeMustEndWith Code = "must_end_with"
	// CodeTooManySteps: the turn has taken as many steps as its agent may, as an operator has defined it.
	CodeTooManySteps Code = "too_many_steps"
	// CodeTooManyTurns: the owner has reached the limit of open turns.
	CodeTooManyTurns Code = "too_many_turns"
	// CodeTooManyTools: the service has reached the limit of registered tools.
	CodeTooManyTools Code = "too_many_tools"
	// CodeTooManyCalls: the agent has reached the limit of pending calls.
	CodeTooManyCalls Code = "too_many_calls"
	// CodeTooManyBytes: the credential has reached the limit of bytes for today.
	CodeTooManyBytes Code = "too_many_bytes"
	// CodeArgumentsNotSeen: the person who accepts has neither been shown nor read some arguments of the question.
	CodeArgumentsNotSeen Code = "arguments_not_seen"
	// CodeStandingRefused: the standing permission that came with an accept cannot be given; nothing was accepted.
	CodeStandingRefused Code = "standing_refused"
	// CodePasskeyRequired: an accept takes the signature of a passkey, which it does not have.
	CodePasskeyRequired Code = "passkey_required"
)

// The common codes, shared by services and the kernel (UTP, "Results").
const (
	CodeBadRequest          Code = "bad_request"          // malformed, or against the schema
	CodeNotFound            Code = "not_found"            // what is named does not exist
	CodeConflict            Code = "conflict"             // it already exists, or has changed meanwhile
	CodeAuthFailed          Code = "auth_failed"          // not allowed for this caller
	CodeToolTimeout         Code = "tool_timeout"         // no result within the tool's time
	CodeUpstreamUnavailable Code = "upstream_unavailable" // a dependency cannot be reached
	CodeInternalError       Code = "internal_error"       // a defect, or an error of unknown kind
	CodeNotImplemented      Code = "not_implemented"      // the operation does not exist
	CodeStorageError        Code = "storage_error"        // the store failed
	// CodeChangedSinceReview: the tool differs from what was reviewed; it ran nothing.
	CodeChangedSinceReview Code = "changed_since_review"
)

// The codes of malformed commands, reports and cards (UTP, "Results" and "Reports").
const (
	CodeUnknownError            Code = "unknown_error"              // a failed result without a reason
	CodeInvalidStatus           Code = "invalid_status"             // a status outside the five
	CodeInvalidAfterExecution   Code = "invalid_after_execution"    // neither suspend nor terminate
	CodeResultNotSerializable   Code = "result_not_serializable"    // the result is not JSON
	CodeErrorNotSerializable    Code = "error_not_serializable"     // the error's detail is not JSON
	CodeInvalidPayload          Code = "invalid_payload"            // a payload of the wrong shape
	CodeProtocolViolation       Code = "protocol_violation"         // against the protocol's rules
	CodeInvalidSourceActor      Code = "invalid_source_actor"       // the sender may not act for that project
	CodeMissingToolCallID       Code = "missing_tool_call_id"       // no call named
	CodeMissingStepID           Code = "missing_step_id"            // a result without the step that requested it
	CodeMissingToolResultCard   Code = "missing_tool_result_card"   // a report that names no card
	CodeCardNotFound            Code = "card_not_found"             // the named card does not exist
	CodeInvalidCardType         Code = "invalid_card_type"          // the named card is of another type
	CodeToolCallIDMismatch      Code = "tool_call_id_mismatch"      // the card belongs to another call
	CodeToolDefinitionMissing   Code = "tool_definition_missing"    // a peer's equivalent of unknown_tool
	CodeAfterExecutionMismatch  Code = "after_execution_mismatch"   // the command and the registry disagree
	CodeRecursionDepthExceeded  Code = "recursion_depth_exceeded"   // too many nested agents
	CodeAgentBusy               Code = "agent_busy"                 // the agent works on another turn
	CodeInboxNotEmpty           Code = "inbox_not_empty"            // a terminating tool while messages wait
	CodeResumeFailed            Code = "resume_failed"              // a suspended turn could not resume
	CodeResumeRetryExhausted    Code = "resume_retry_exhausted"     // a suspended turn could not resume after several attempts
	CodeDispatchTimeout         Code = "dispatch_timeout"           // no worker took the turn
	CodeTimeoutReapedByWatchdog Code = "timeout_reaped_by_watchdog" // a worker took the turn and stopped responding
	CodeDeadlineExceeded        Code = "deadline_exceeded"          // the turn's own deadline has passed
	CodeBatchFailed             Code = "batch_failed"               // turns that were to do the call did not succeed
	CodeUINotAllowed            Code = "ui_not_allowed"             // the tool's definition does not allow actions of a user interface
	CodeMissingRequiredFields   Code = "missing_required_fields"    // an action without its id, its tool or its arguments
	CodeInvalidArgs             Code = "invalid_args"               // an action whose arguments are not an object
	CodeInvalidMetadata         Code = "invalid_metadata"           // an action whose metadata is not an object
)

// codeFacts are the properties that follow from a code alone.
type codeFacts struct {
	// retryable: the same request may succeed at another time.
	retryable bool
	// safe: the sender of this code has begun nothing, or knows that repeating changes nothing.
	safe bool
	// http is the nearest HTTP status.
	http int
}

var codeTable = map[Code]codeFacts{
	CodeConsentDeclined:  {safe: true, http: 403},
	CodeConsentExpired:   {safe: true, http: 403},
	CodeConsentWithdrawn: {safe: true, http: 403},
	CodeConsentStale:     {safe: true, http: 409},
	CodeStopped:          {http: 409},
	CodeDeniedByPolicy:   {safe: true, http: 403},
	CodeOutcomeUnknown:   {http: 502},

	CodeConsentRetryExhausted: {safe: true, http: 409},

	CodeBusy:        {retryable: true, safe: true, http: 409},
	CodeDone:        {safe: true, http: 409},
	CodeStale:       {safe: true, http: 409},
	CodeUnknownCall: {safe: true, http: 404},
	CodeUnknownTool: {safe: true, http: 404},
	CodeTooLarge:    {safe: true, http: 413},
	CodeTurnEnded:   {safe: true, http: 409},
	CodeParked:      {safe: true, http: 409},

	CodeAgentInactive: {safe: true, http: 403},
	CodeMustEndWith:   {http: 409},
	CodeTooManySteps:  {http: 409},

	CodeTooManyTurns: {retryable: true, safe: true, http: 429},
	CodeTooManyTools: {safe: true, http: 429},
	CodeTooManyCalls: {retryable: true, safe: true, http: 429},
	CodeTooManyBytes: {retryable: true, safe: true, http: 429},

	CodeArgumentsNotSeen: {safe: true, http: 409},
	CodeStandingRefused:  {safe: true, http: 409},
	CodePasskeyRequired:  {safe: true, http: 403},

	CodeBadRequest:          {safe: true, http: 400},
	CodeNotFound:            {safe: true, http: 404},
	CodeConflict:            {safe: true, http: 409},
	CodeAuthFailed:          {safe: true, http: 403},
	CodeToolTimeout:         {retryable: true, http: 504},
	CodeUpstreamUnavailable: {retryable: true, http: 503},
	CodeInternalError:       {http: 500},
	CodeNotImplemented:      {safe: true, http: 501},
	CodeStorageError:        {retryable: true, http: 503},
	CodeChangedSinceReview:  {safe: true, http: 409},

	CodeUnknownError:            {http: 500},
	CodeInvalidStatus:           {http: 500},
	CodeInvalidAfterExecution:   {http: 400},
	CodeResultNotSerializable:   {http: 500},
	CodeErrorNotSerializable:    {http: 500},
	CodeInvalidPayload:          {safe: true, http: 400},
	CodeProtocolViolation:       {safe: true, http: 400},
	CodeInvalidSourceActor:      {safe: true, http: 403},
	CodeMissingToolCallID:       {safe: true, http: 400},
	CodeMissingStepID:           {safe: true, http: 400},
	CodeMissingToolResultCard:   {safe: true, http: 400},
	CodeCardNotFound:            {retryable: true, safe: true, http: 404},
	CodeInvalidCardType:         {safe: true, http: 400},
	CodeToolCallIDMismatch:      {safe: true, http: 400},
	CodeToolDefinitionMissing:   {safe: true, http: 404},
	CodeAfterExecutionMismatch:  {safe: true, http: 409},
	CodeRecursionDepthExceeded:  {safe: true, http: 400},
	CodeAgentBusy:               {retryable: true, safe: true, http: 409},
	CodeInboxNotEmpty:           {retryable: true, safe: true, http: 409},
	CodeResumeFailed:            {http: 500},
	CodeResumeRetryExhausted:    {http: 503},
	CodeDispatchTimeout:         {retryable: true, safe: true, http: 504},
	CodeTimeoutReapedByWatchdog: {http: 504},
	CodeDeadlineExceeded:        {http: 504},
	CodeBatchFailed:             {http: 500},
	CodeUINotAllowed:            {safe: true, http: 403},
	CodeMissingRequiredFields:   {safe: true, http: 400},
	CodeInvalidArgs:             {safe: true, http: 400},
	CodeInvalidMetadata:         {safe: true, http: 400},
}

// Codes lists every code of this package in alphabetical order.
func Codes() []Code {
	all := make([]Code, 0, len(codeTable))
	for c := range codeTable {
		all = append(all, c)
	}
	slices.Sort(all)
	return all
}

// Known reports whether the code is in [Codes].
func (c Code) Known() bool {
	_, ok := codeTable[c]
	return ok
}

// Retryable reports whether the same request may succeed at another time. It does not say that repeating it is
// harmless; [Code.SafeToRetry] does. What a person or a policy refused is never retryable: asking again until someone
// agrees is not consent.
func (c Code) Retryable() bool { return codeTable[c].retryable }

// SafeToRetry reports whether the code, if the kernel reports it, proves that repeating the request has no second
// effect: nothing was begun, or it is known to be done. A code from a tool that failed halfway proves nothing.
func (c Code) SafeToRetry() bool { return codeTable[c].safe }

// HTTPStatus is the nearest HTTP status; 500 for an unknown code.
func (c Code) HTTPStatus() int {
	if facts, ok := codeTable[c]; ok {
		return facts.http
	}
	return 500
}
