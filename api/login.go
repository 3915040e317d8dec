package api

import "time"

// Identity is the principal that a token or a login stands for.
type Identity struct {
	Name  string `json:"name"`
	Roles []Role `json:"roles"`
	// Surface is where what it does comes from, as receipts name it.
	Surface string `json:"surface"`
}

// LoginCode is a code that logs one browser in, once.
type LoginCode struct {
	Code string `json:"code"`
	// Page is the address at which to type it.
	Page    string    `json:"page"`
	Expires time.Time `json:"expires"`
}
