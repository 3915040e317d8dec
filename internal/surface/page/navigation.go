package page

// Navigation lists the pages that a reader may go to, for the end of each page. The zero value lists those that everybody has.
type Navigation struct {
	Passkeys bool // there is a page for them
	Inspects bool // its reader sees what operators and auditors see
	Logins   bool // and who is logged in
	Policy   bool // and the operator's rules
}
