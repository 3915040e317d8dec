package api

// Failure is the body of every error response.
type Failure struct {
	Error FailureBody `json:"error"`
}

// FailureBody is what went wrong.
type FailureBody struct {
	// Code is the code of the kind of refusal, or a more specific one from docs/errors.md.
	Code string `json:"code"`
	// Message says what was found and what was expected, Hint what to do.
	Message string `json:"message"`
	Hint    string `json:"hint,omitzero"`
	// Retry reports that the same request may be repeated without a second effect.
	Retry bool `json:"safe_to_retry"`
	// Closed says how the question ended, if an answer came too late.
	Closed *Closed `json:"closed,omitzero"`
}
