// Package conform holds what any implementation of AAEP can be measured by, in any
// language: the catalogue of rules, and vectors, which are messages and streams with
// the verdict that they must get.
//
// The vectors are JSON files, one for each (folder vectors, with a README and a
// schema). [Vectors] returns them; [Vector.Run] asks a [Judge] and says whether its
// findings are those that the vector names; [Reference] is the judge of this module,
// [Program] one that is another program, in any language.
//
//	for _, v := range all {
//		if out := v.Run(conform.Reference); !out.Passed() {
//			fmt.Println(v.ID, out.Problem)
//		}
//	}
//
// [Catalogue] is every testable rule by its id. [Measure] says which of them the
// vectors, and tests elsewhere in this module, cover.
package conform
