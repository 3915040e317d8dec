// Package program ties what is run to the bytes of a program. A program may lie only where nobody but root and this user can put
// another one in its place; it is read once, named by its SHA-256, and run from a private copy of those bytes.
//
// Only the program itself is bound: not the interpreter that a script names, nor the libraries, modules and files that it loads.
package program
