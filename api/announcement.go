package api

import "time"

// Announcement is one complete sentence about a session.
type Announcement struct {
	ID      string `json:"id"`
	Session string `json:"session_id,omitzero"`
	// Seq is the number of the event that it reports.
	Seq  int64  `json:"seq,omitzero"`
	Text string `json:"text"`
	// Language is a BCP 47 tag, Direction ltr or rtl.
	Language  string `json:"language,omitzero"`
	Direction string `json:"direction,omitzero"`
	// Priority is how to announce it: assertive, polite or none.
	Priority string    `json:"priority"`
	Kind     string    `json:"kind,omitzero"`
	Question int       `json:"question,omitzero"`
	At       time.Time `json:"at,omitzero"`
}

// AnnouncementList is the last announcements of a session, in their order.
type AnnouncementList struct {
	Announcements []Announcement `json:"announcements"`
}
