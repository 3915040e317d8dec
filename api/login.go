package api

import "time"

// Identity is the principal that a token or a login stands for.
type Identity struct {
	Name  string `json:"name"`
	Roles []Role `json:"roles"`
	// Surface is where its requests come from, as receipts name it.
	Surface string `json:"surface"`
	// Accepts is whether an accept counts here. Someone who may answer and is not known to be there only rejects.
	Accepts bool `json:"accepts"`
	// TimeZone is the zone in which that person wants times told, such as Europe/Berlin; without one, as is usual where
	// they are told.
	TimeZone string `json:"time_zone,omitzero"`
}

// LoginCodeRequest asks for a code.
type LoginCodeRequest struct {
	// Short asks for one of 8 digits, for a phone, instead of 20. It is void after ten wrong ones that anybody tries.
	Short bool `json:"short,omitzero"`
}

// LoginCode is a one-time code that logs one browser, or one terminal, in.
type LoginCode struct {
	// Code is empty if it was shown in the terminal where the server runs.
	Code string `json:"code"`
	// the address of the login page
	Page    string    `json:"page"`
	Expires time.Time `json:"expires"`
}

// TerminalLogin logs the terminal of the process in that sends it.
type TerminalLogin struct {
	// Code is the code; without one, a code for this terminal is shown in the terminal where the server runs.
	Code string `json:"code,omitzero"`
}

// TerminalAnswer says how far a login of a terminal is.
type TerminalAnswer struct {
	// Terminal is the name of the terminal's device.
	Terminal string `json:"terminal"`
	// Accepts is whether it is logged in, Expires until when.
	Accepts bool      `json:"accepts"`
	Expires time.Time `json:"expires,omitzero"`
	// Shown is whether a code was shown in the terminal where the server runs. If not, the server has none.
	Shown bool `json:"shown,omitzero"`
}
