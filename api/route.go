package api

// Root is where the HTTP API is, AAEPRoot where the addresses of the AAEP are (its Appendix B).
const (
	Root     = "/api/v1"
	AAEPRoot = "/aaep/v1"
)
