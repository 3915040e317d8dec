// Package phrasebook translates the house's own sentences, as people read them on the page: labels, states, hints and refusals. The code
// writes them in English, and a surface has them said in its reader's language where it shows them.
//
// A book is a file of gettext's form for each language, by the English text. A sentence with values stands in it once, as
// "Question %d is not open any more.", and is found by its form: %s is any text, %d a number. A state or a day among
// them is translated, too; what others have chosen, such as a name, stays as it is where it is isolated from the sentence (U+2068).
//
// A sentence that comes apart from its values is found by its form alone, in the context "form" ([Book.Form]).
//
// The sentences about events, which have parameters of their own, are translated by package narrate.
package phrasebook
