package api

import "time"

// Identity is the principal that a token or a login stands for.
type Identity struct {
	Name  string `json:"name"`
	Roles []Role `json:"roles"`
	// Surface is where its requests come from, as receipts name it.
	Surface string `json:"surface"`
}

// LoginCode is a one-time code that logs one browser in.
type LoginCode struct {
	Code string `json:"code"`
	// the address of the login page
	Page    string    `json:"page"`
	Expires time.Time `json:"expires"`
}
