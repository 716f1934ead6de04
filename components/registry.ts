/**
 * Where profiles and extensions are read, loaded when first asked for: a program that only imports this package pays
 * neither for YAML nor for schemas.
 */
export function registry(): typeof import("../provider/registry") {
	return require("../provider/registry") as typeof import("../provider/registry");
}
