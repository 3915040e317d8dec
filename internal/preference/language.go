package preference

// ownNames are the languages' names in themselves, as those who read them look for them.
var ownNames = map[string]string{ //nolint:gochecknoglobals // a table
	"ar": "العربية", "en": "English", "es": "Español", "fr": "Français", "yo": "Èdè Yorùbá",
}

// LanguageName is a language's own name by its tag; of one that has no name here, it is the tag.
func LanguageName(tag string) string {
	if name := ownNames[tag]; name != "" {
		return name
	}
	return tag
}

// named is a language's own name with its tag behind it.
func named(tag string) string {
	if name := LanguageName(tag); name != tag {
		return name + " (" + tag + ")"
	}
	return tag
}
