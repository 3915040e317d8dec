package api

// Credentials is the result of reading the credential files again. They are for processes that connect to the message
// bus.
type Credentials struct {
	// URL is the address of the bus; absent if no process may connect.
	URL string `json:"url,omitzero"`
	// Refused are the files that are invalid, so that their credentials are not accepted.
	Refused []RefusedCredential `json:"refused,omitzero"`
}

// RefusedCredential is a credential file that the server has refused, and why.
type RefusedCredential struct {
	File    string `json:"file"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitzero"`
}
