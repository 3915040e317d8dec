package web

import (
	"cmp"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/api"
)

// english is the language of those who have chosen none that the server offers.
const english = "en"

// language returns the language that a visitor reads in, as the tag that the server offers it under: the one that they
// have chosen, if it is offered, and English otherwise. All that one page shows is in this one.
func (s *Server) language(v visitor) string {
	offer := pacing.Offer{Languages: s.options.Manifest.LanguagesSupported}
	return cmp.Or(offer.Serves(api.Chosen(v.prefers.Language)), english)
}

// reads has a visitor read in the language that a request asks for, instead of the one that they prefer.
func (v *visitor) reads(tag string) {
	if aaep.PatternLanguage.Match(tag) {
		v.prefers.Language = &tag
	}
}
