package page

// Translated is for the tests of the catalogues.
var Translated = translated
