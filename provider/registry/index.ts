export { findExtension, type LoadedExtension, loadExtensions } from "./extensions";
export { loadHandler } from "./load-handler";
export { type LoadedProfile, listProfiles, loadProfile, type ProfileListing } from "./profiles";
export { type Search, type SearchSettings, searchFrom } from "./search";
