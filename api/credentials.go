package api

// Credentials says what became of the credentials of processes that connect to the message bus, when
// the server has read their files again.
type Credentials struct {
	// URL is the address of the bus; absent where no process is let in.
	URL string `json:"url,omitzero"`
	// Refused are those that do not count as their files are now.
	Refused []RefusedCredential `json:"refused,omitzero"`
}

// RefusedCredential is a file of credentials that the server has refused, and why.
type RefusedCredential struct {
	File    string `json:"file"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitzero"`
}
