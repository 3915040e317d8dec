package utp

// Status is the outcome of a tool call or a turn. All five are final: a call has exactly one result (UTP, "Results").
type Status string

// The five statuses.
const (
	StatusSuccess  Status = "success"
	StatusFailed   Status = "failed"
	StatusCanceled Status = "canceled"
	StatusTimeout  Status = "timeout"
	StatusPartial  Status = "partial" // some of it was done, and the result says what
)

// Valid reports whether s is one of the five.
func (s Status) Valid() bool {
	switch s {
	case StatusSuccess, StatusFailed, StatusCanceled, StatusTimeout, StatusPartial:
		return true
	default:
		return false
	}
}

// AfterExecution is what a turn does once the result of a call has arrived. With both values it waits for the result
// first.
type AfterExecution string

// The two values of after_execution.
const (
	Suspend   AfterExecution = "suspend"   // continue with the result
	Terminate AfterExecution = "terminate" // end with the result
)

// Valid reports whether a is suspend or terminate.
func (a AfterExecution) Valid() bool { return a == Suspend || a == Terminate }
