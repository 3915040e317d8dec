package api

// Failure is the body of every answer that is not a success.
type Failure struct {
	Error FailureBody `json:"error"`
}

// FailureBody is what went wrong.
type FailureBody struct {
	// Code is the code of the kind of refusal, or one of docs/errors.md that says more.
	Code string `json:"code"`
	// Message is what was found and what was expected, Hint what to do.
	Message string `json:"message"`
	Hint    string `json:"hint,omitzero"`
	// Retry says that the same request may be sent again without a second effect.
	Retry bool `json:"safe_to_retry"`
	// Closed is how the question ended, where an answer came too late.
	Closed *Closed `json:"closed,omitzero"`
}
