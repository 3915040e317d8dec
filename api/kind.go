package api

import "slices"

// Kind is the kind of a refusal over HTTP. A client sees it as the code of a refusal without a code of its own. Each
// kind has a status. Repeating the same request is safe after busy and unavailable, and useless after the others.
type Kind string

// The kinds of refusal.
const (
	KindInvalid         Kind = "bad_request"
	KindUnauthenticated Kind = "authentication_required"
	KindForbidden       Kind = "authorization_denied"
	KindNotFound        Kind = "not_found"
	KindMethod          Kind = "method_not_allowed" // Allow lists the allowed methods
	KindConflict        Kind = "conflict"           // something else happened first
	KindTooLarge        Kind = "body_too_large"
	KindMedia           Kind = "unsupported_media_type"
	KindMisdirected     Kind = "wrong_host"
	KindBusy            Kind = "rate_limit"
	KindUnavailable     Kind = "unavailable"
	KindUncertain       Kind = "outcome_unknown" // it may have been done
	KindInternal        Kind = "internal_error"
)

type kindFacts struct {
	kind    Kind
	status  int
	meaning string
}

var kinds = []kindFacts{
	{KindInvalid, 400, "The request cannot be read, or a value is not allowed."},
	{KindUnauthenticated, 401, "There is no valid token."},
	{KindForbidden, 403, "The principal of the token has no right to this."},
	{KindNotFound, 404, "It does not exist, or the principal may not know of it."},
	{KindMethod, 405, "The address takes other methods, which the header Allow names."},
	{KindConflict, 409, "Something else happened first; the code says what."},
	{KindTooLarge, 413, "The body is larger than the route takes."},
	{KindMedia, 415, "The body is not sent as application/json."},
	{KindMisdirected, 421, "The server does not answer to the name in the Host header."},
	{KindBusy, 429, "Too much is open; Retry-After says when to try again."},
	{KindInternal, 500, "The server failed; whether it was done is not known."},
	{KindUnavailable, 503, "No answer came in time. The same request may be sent again, after Retry-After."},
	{KindUncertain, 504, "It may have been done. Look before you send it again."},
}

// Kinds returns every kind, in the order of their statuses.
func Kinds() []Kind {
	all := make([]Kind, 0, len(kinds))
	for _, k := range kinds {
		all = append(all, k.kind)
	}
	return all
}

// Status returns the HTTP status of the kind; 500 if it is unknown.
func (k Kind) Status() int {
	if i := k.index(); i >= 0 {
		return kinds[i].status
	}
	return KindInternal.Status()
}

// Meaning describes the kind in a sentence; "" if it is unknown.
func (k Kind) Meaning() string {
	if i := k.index(); i >= 0 {
		return kinds[i].meaning
	}
	return ""
}

func (k Kind) index() int {
	return slices.IndexFunc(kinds, func(row kindFacts) bool { return row.kind == k })
}
