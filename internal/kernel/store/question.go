package store

// OpenQuestion says where an open question stands. All else about it is in its turn.
type OpenQuestion struct {
	Number               int
	Turn, Session, Owner string
}
