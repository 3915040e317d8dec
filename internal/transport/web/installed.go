package web

import "net/http"

// installedRoutes are what a browser needs to install the page, to notify, and to say something where the server cannot
// be reached. None of it tells anything of a person, so none needs a login.
func (s *Server) installedRoutes(mux *http.ServeMux) {
	// A service worker serves the pages below its own address, so it cannot be below /page.
	mux.HandleFunc("GET /worker.js", func(w http.ResponseWriter, r *http.Request) { s.file(w, r, "worker.js") })
	for path, template := range map[string]string{"/page/offline": "offline", "/alerts": "alerts"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			if err := s.show(w, r, http.StatusOK, template, nil); err != nil {
				s.fail(w, r, err)
			}
		})
	}
}
