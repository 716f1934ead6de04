export { findExtension, type LoadedExtension, loadExtensions } from "./extensions";
export { loadHandler } from "./load-handler";
export { openExtension, type Settings } from "./open-extension";
export { type LoadedProfile, listProfiles, loadProfile, type ProfileListing } from "./profiles";
export { type Search, type SearchSettings, searchFrom } from "./search";
