package schema

// shape says what the value of a keyword has to be.
type shape uint8

const (
	anything shape = iota
	aString
	aFlag
	aNumber
	aPositive
	aCount
	anArray
	someNames    // different strings
	aType        // the name of a type, or several
	aPattern     // a regular expression
	anAnchor     // a name for a place in the schema
	anIdentifier // the address of the schema
	aSchema
	aSchemaOrList
	aSchemaOrFlag // an object, or a boolean even where no other schema is one
	schemaList
	schemaMap
	patternMap // schemas, by regular expressions
	namesMap   // lists of different strings
	dependencyMap
)

// keyword is one row of the table of keywords. It exists from one version to another; 0 is no end.
type keyword struct {
	name         string
	shape        shape
	since, until version
}

// keywords are all that are checked, or that the older versions keep. Others mean nothing. A schema's mistakes are found in
// this order.
var keywords = []keyword{
	{"$schema", aString, draft4, 0},
	{"$id", anIdentifier, draft6, 0},
	{"id", anIdentifier, draft4, draft4},
	{"$anchor", anAnchor, draft2019, 0},
	{"$dynamicAnchor", anAnchor, draft2020, 0},
	{"$recursiveAnchor", aFlag, draft2019, draft2019},
	{"$ref", aString, draft4, 0},
	{"$dynamicRef", aString, draft2020, 0},
	{"$recursiveRef", aString, draft2019, 0},
	{"$comment", aString, draft2019, 0},
	{"$defs", schemaMap, draft2019, 0},
	{"definitions", schemaMap, draft4, 0},
	{"type", aType, draft4, 0},
	{"enum", anArray, draft4, 0},
	{"const", anything, draft6, 0},
	{"format", anything, draft4, 0},
	{"minLength", aCount, draft4, 0},
	{"maxLength", aCount, draft4, 0},
	{"pattern", aPattern, draft4, 0},
	{"minimum", aNumber, draft4, 0},
	{"maximum", aNumber, draft4, 0},
	{"exclusiveMinimum", aFlag, draft4, draft4},
	{"exclusiveMaximum", aFlag, draft4, draft4},
	{"exclusiveMinimum", aNumber, draft6, 0},
	{"exclusiveMaximum", aNumber, draft6, 0},
	{"multipleOf", aPositive, draft4, 0},
	{"minProperties", aCount, draft4, 0},
	{"maxProperties", aCount, draft4, 0},
	{"required", someNames, draft4, 0},
	{"properties", schemaMap, draft4, 0},
	{"patternProperties", patternMap, draft4, 0},
	{"additionalProperties", aSchemaOrFlag, draft4, 0},
	{"propertyNames", aSchema, draft6, 0},
	{"dependencies", dependencyMap, draft4, 0},
	{"dependentRequired", namesMap, draft2019, 0},
	{"dependentSchemas", schemaMap, draft2019, 0},
	{"minItems", aCount, draft4, 0},
	{"maxItems", aCount, draft4, 0},
	{"uniqueItems", aFlag, draft4, 0},
	{"prefixItems", schemaList, draft2020, 0},
	{"items", aSchemaOrList, draft4, draft2019},
	{"items", aSchema, draft2020, 0},
	{"additionalItems", aSchemaOrFlag, draft4, draft2019},
	{"contains", aSchema, draft6, 0},
	{"minContains", aCount, draft2019, 0},
	{"maxContains", aCount, draft2019, 0},
	{"allOf", schemaList, draft4, 0},
	{"anyOf", schemaList, draft4, 0},
	{"oneOf", schemaList, draft4, 0},
	{"not", aSchema, draft4, 0},
	{"if", aSchema, draft7, 0},
	{"then", aSchema, draft7, 0},
	{"else", aSchema, draft7, 0},
	{"unevaluatedProperties", aSchema, draft2019, 0},
	{"unevaluatedItems", aSchema, draft2019, 0},
	{"contentSchema", aSchema, draft2019, 0},
}

func (k keyword) in(v version) bool { return v >= k.since && (k.until == 0 || v <= k.until) }

// unchecked reports whether mistakes in the value of a keyword are none: 2020-12 knows it only for the sake of older
// schemas, or as a note. A keyword with a mistake then means nothing.
func (k keyword) unchecked(v version) bool {
	return v == draft2020 && (k.name == "definitions" || k.name == "dependencies" || k.name == "contentSchema" || k.name == "$recursiveRef")
}
