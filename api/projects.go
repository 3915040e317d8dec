package api

// Projects are the projects of a server besides its own.
type Projects struct {
	Projects []ServedProject `json:"projects"`
}

// ServedProject is a project of a server: an Earshot of its own behind the same address.
type ServedProject struct {
	Name string `json:"name"`
	// URL is where its programs come; absent while it is not served.
	URL string `json:"url,omitzero"`
	// Trouble is why it is not served.
	Trouble string `json:"trouble,omitzero"`
	Hint    string `json:"hint,omitzero"`
}
