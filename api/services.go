package api

// Services is the result of reading the list of Model Context Protocol servers again.
type Services struct {
	// Started are the services that were started.
	Started []StartedService `json:"started,omitzero"`
	// Ended are the names of the services that were ended: their tools are not offered any more.
	Ended []string `json:"ended,omitzero"`
}

// StartedService is a service that was started.
type StartedService struct {
	Service string `json:"service"`
	// Trouble says why its tools are not offered yet; absent if they are. The server goes on trying.
	Trouble string `json:"trouble,omitzero"`
}
